-- Staff of a large firm: tables in partitions, keys of several columns, views that group, many narrow rows.
CREATE TABLE employees (emp_no INT NOT NULL PRIMARY KEY, birth_date DATE NOT NULL, first_name VARCHAR(14) NOT NULL, gender ENUM('M','F') NOT NULL, hire_date DATE NOT NULL);
CREATE TABLE departments (dept_no CHAR(4) NOT NULL, dept_name VARCHAR(40) NOT NULL, PRIMARY KEY (dept_no), UNIQUE KEY dept_name (dept_name));
CREATE TABLE dept_emp (emp_no INT NOT NULL, dept_no CHAR(4) NOT NULL, from_date DATE NOT NULL, to_date DATE NOT NULL, KEY dept_no (dept_no), FOREIGN KEY (emp_no) REFERENCES employees (emp_no) ON DELETE CASCADE, FOREIGN KEY (dept_no) REFERENCES departments (dept_no) ON DELETE CASCADE, PRIMARY KEY (emp_no, dept_no));
CREATE TABLE salaries (emp_no INT NOT NULL, salary INT NOT NULL, from_date DATE NOT NULL, to_date DATE NOT NULL, PRIMARY KEY (emp_no, from_date)) PARTITION BY RANGE (TO_DAYS(from_date)) (PARTITION p85 VALUES LESS THAN (TO_DAYS('1985-12-31')), PARTITION p95 VALUES LESS THAN (TO_DAYS('1995-12-31')), PARTITION p99 VALUES LESS THAN MAXVALUE);
CREATE TABLE titles (emp_no INT NOT NULL, title VARCHAR(50) NOT NULL, from_date DATE NOT NULL, KEY (emp_no)) PARTITION BY KEY (emp_no) PARTITIONS 4;
CREATE OR REPLACE VIEW dept_emp_latest_date AS SELECT emp_no, MAX(from_date) AS from_date, MAX(to_date) AS to_date FROM dept_emp GROUP BY emp_no;
CREATE OR REPLACE VIEW current_dept_emp AS SELECT l.emp_no, dept_no, l.from_date, l.to_date FROM dept_emp d INNER JOIN dept_emp_latest_date l ON d.emp_no = l.emp_no AND d.from_date = l.from_date AND l.to_date = d.to_date;
INSERT INTO departments VALUES ('d001', 'Marketing'), ('d002', 'Finance'), ('d003', 'R&D');
INSERT INTO employees SELECT seq, DATE '1952-01-01' + INTERVAL seq DAY, CONCAT('Name', seq), IF(seq % 2, 'M', 'F'), DATE '1985-01-01' + INTERVAL seq DAY FROM seq_10001_to_13000;
INSERT INTO dept_emp SELECT emp_no, ELT(1 + emp_no % 3, 'd001', 'd002', 'd003'), hire_date, '9999-01-01' FROM employees;
INSERT INTO salaries SELECT emp_no, 40000 + (emp_no * 37 + seq * 501) % 60000, DATE '1984-06-01' + INTERVAL seq YEAR, '9999-01-01' FROM employees JOIN seq_0_to_9;
INSERT INTO titles SELECT emp_no, ELT(1 + emp_no % 2, 'Engineer', 'Senior Engineer'), hire_date FROM employees;
