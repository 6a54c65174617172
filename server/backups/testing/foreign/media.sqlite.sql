-- A shop for music: types that SQLite does not know, keys that refer to themselves, names with blanks.
create table [Artist] ([ArtistId] integer not null, [Name] nvarchar(120), constraint [PK_Artist] primary key ([ArtistId]));
create table "Track List" (TrackId integer primary key autoincrement, Name nvarchar(200) not null collate nocase, ArtistId integer references Artist on delete no action, UnitPrice numeric(10, 2), Bytes any, Length as (length(Name)) stored);
create table Employee (EmployeeId integer primary key, ReportsTo integer references Employee, BirthDate text, Rate real check (Rate >= 0)) strict;
create table Playlist (PlaylistId integer, TrackId integer, primary key (PlaylistId, TrackId)) without rowid;
create index tracks_of on "Track List" (ArtistId, UnitPrice desc) where UnitPrice > 0;
create index by_expression on "Track List" (lower(Name));
create view "Tracks, named" as select t.Name as track, a.Name as artist from "Track List" t left join Artist a using (ArtistId);
create trigger track_gone after delete on "Track List" begin delete from Playlist where TrackId = old.TrackId; end;
create trigger through_view instead of insert on "Tracks, named" begin insert into Artist (Name) values (new.artist); end;
create virtual table words using fts5 (title, body, tokenize = 'porter unicode61', content = '');
create virtual table lyrics using fts5 (line);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 300) insert into Artist select i, 'Artist „' || i || '“' || char(0x202e) from n;
with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000)
  insert into "Track List" (Name, ArtistId, UnitPrice, Bytes) select 'Track ' || i, 1 + i % 300, case i % 4 when 0 then 'free' else i / 100.0 end, case i % 4 when 0 then null when 1 then zeroblob(i % 50) when 2 then i * 1e300 else x'00ff27' end from n;
insert into "Track List" (Name, UnitPrice) values (cast(x'00610062' as text), 9e999), ('', -9e999);
insert into Employee values (1, null, '1962-02-18 00:00:00', 0.1), (2, 1, null, 2.5);
insert into Playlist select 1 + TrackId % 9, TrackId from "Track List";
insert into words (rowid, title, body) values (1, 'running', 'the runners run'), (2, 'größe', 'öl');
insert into lyrics values ('it''s a line'), (null);
delete from "Track List" where TrackId % 97 = 0;
