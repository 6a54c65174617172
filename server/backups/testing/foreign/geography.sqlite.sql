-- Maps in a GeoPackage: an application's number in the header, trees of rectangles, and triggers that call functions which only a map program has.
pragma application_id = 1196444487;
pragma user_version = 10300;
pragma page_size = 1024;
pragma auto_vacuum = incremental;
pragma journal_mode = wal;
create table gpkg_contents (table_name text not null primary key, data_type text not null, identifier text unique, last_change datetime not null default (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')), min_x double, srs_id integer);
create table gpkg_geometry_columns (table_name text not null, column_name text not null, geometry_type_name text not null, constraint pk_geom_cols primary key (table_name, column_name), constraint fk_gc_tn foreign key (table_name) references gpkg_contents (table_name));
create table roads (fid integer primary key autoincrement not null, geom linestring, name text(80), width medium, paved boolean);
create virtual table rtree_roads_geom using rtree (id, minx, maxx, miny, maxy);
create table gpkg_tiles (id integer primary key autoincrement, zoom_level integer not null, tile_data blob not null, unique (zoom_level, id));
create view roads_wide as select fid as ogc_fid, * from roads where width > 5;
insert into gpkg_contents (table_name, data_type, identifier, min_x) values ('roads', 'features', 'Straßen', -180.0), ('gpkg_tiles', 'tiles', null, null);
insert into gpkg_geometry_columns values ('roads', 'geom', 'LINESTRING');
with recursive n(i) as (select 1 union all select i + 1 from n where i < 500) insert into roads select i, cast(x'47500001e6100000' || randomblob(0) || zeroblob(i % 40) as blob), 'Weg ' || i, i % 12, i % 2 from n;
insert into rtree_roads_geom select fid, fid, fid + 1.5, -fid, fid from roads;
with recursive n(i) as (select 1 union all select i + 1 from n where i < 60) insert into gpkg_tiles (zoom_level, tile_data) select i % 5, zeroblob(4000) from n;
create trigger rtree_roads_geom_insert after insert on roads when (new.geom notnull and not ST_IsEmpty(new.geom)) begin insert or replace into rtree_roads_geom values (new.fid, ST_MinX(new.geom), ST_MaxX(new.geom), ST_MinY(new.geom), ST_MaxY(new.geom)); end;
create trigger rtree_roads_geom_delete after delete on roads when old.geom not null begin delete from rtree_roads_geom where id = old.fid; end;
