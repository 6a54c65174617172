-- A trader's books, as they came from another kind of database: quoted names, blanks in columns of fixed width, pictures in rows, a table that refers to itself.
create schema "Sales Dept";
create table categories (category_id smallint not null primary key, category_name varchar(15) not null, description text, picture bytea);
create table "Order Details" ("OrderID" smallint, "ProductID" smallint, "UnitPrice" real not null, "Quantity" smallint, "Discount" real, primary key ("OrderID", "ProductID"));
create table employees (
  employee_id smallint primary key, last_name varchar(20), title_of_courtesy varchar(25), birth_date date, region bpchar(15), notes text,
  reports_to smallint constraint "reports to" references employees deferrable
);
create table customers (customer_id bpchar(5) primary key, company_name varchar(40) not null, fax varchar(24));
create table "Sales Dept".orders (
  order_id smallint primary key, customer_id bpchar(5) references customers, employee_id smallint references employees,
  order_date date, freight real, weight double precision, ship_name varchar(40), total money, link xml, mask bit varying(9), address inet, span interval
);
alter table "Order Details" add constraint "FK_Order" foreign key ("OrderID") references "Sales Dept".orders not valid;
create view "Sales Dept"."Totals by ""Customer""" as
  select c.company_name as "Company", sum(d."UnitPrice" * d."Quantity" * (1 - d."Discount")) as "Total"
  from customers c join "Sales Dept".orders o using (customer_id) join "Order Details" d on d."OrderID" = o.order_id group by 1;
create recursive view chain (employee_id, depth) as
  select employee_id, 0 from employees where reports_to is null union all select e.employee_id, depth + 1 from employees e join chain c on e.reports_to = c.employee_id;
create procedure "Sales Dept".settle(inout many int) language plpgsql as $$ begin many := many + 1; end $$;
comment on column "Order Details"."Discount" is 'between 0 and 1; see "Totals by ""Customer"""';
alter table customers alter column company_name set statistics 500;
alter table customers set (fillfactor = 70, autovacuum_enabled = off);
alter table categories alter column picture set storage external;
insert into categories select n, 'Category ' || n, null, decode(repeat(md5(n::text), 3000), 'hex') from generate_series(1, 8) n;
insert into employees select n, 'Name' || n, case n % 2 when 0 then 'Dr.' end, '0044-03-15 BC'::date + n, 'WA', E'Line\nline\ttab \\N', nullif(n / 2, 0) from generate_series(1, 9) n;
insert into customers select chr(64 + n % 26 + 1) || n, 'Company „' || n || '“', E'\\.' from generate_series(1, 90) n;
insert into "Sales Dept".orders
  select n, chr(64 + (1 + n % 90) % 26 + 1) || 1 + n % 90, 1 + n % 9, 'infinity', 'NaN', case n % 3 when 0 then '-Infinity' when 1 then 1e-307 else 0.1 + 0.2 end,
    'Ship', 1234.5, '<a b="c">&amp;</a>', B'10101', '2001:db8::/32', '1 mon -1 days' from generate_series(1, 300) n;
insert into "Order Details" select n, 1 + n % 7, 99999.99, n, 0.15 from generate_series(1, 300) n;
