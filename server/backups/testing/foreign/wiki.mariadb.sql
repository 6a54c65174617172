-- An encyclopedia in PHP: every text is bytes, revisions in blobs, keys that compare bytes, an old index of words.
CREATE TABLE page (page_id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, page_namespace INT NOT NULL, page_title VARBINARY(255) NOT NULL, page_restrictions TINYBLOB, page_random DOUBLE UNSIGNED NOT NULL, page_touched BINARY(14) NOT NULL, page_latest INT UNSIGNED NOT NULL, UNIQUE KEY name_title (page_namespace, page_title)) DEFAULT CHARSET=binary;
CREATE TABLE text (old_id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, old_text MEDIUMBLOB NOT NULL, old_flags TINYBLOB NOT NULL) DEFAULT CHARSET=binary MAX_ROWS=10000000 AVG_ROW_LENGTH=10240;
CREATE TABLE image (img_name VARBINARY(255) NOT NULL DEFAULT '' PRIMARY KEY, img_media_type ENUM('UNKNOWN','BITMAP','DRAWING') DEFAULT NULL, img_metadata MEDIUMBLOB NOT NULL, img_sha1 VARBINARY(32) NOT NULL DEFAULT '', KEY sha1 (img_sha1(10))) DEFAULT CHARSET=binary;
CREATE TABLE searchindex (si_page INT UNSIGNED NOT NULL, si_title VARCHAR(255) NOT NULL DEFAULT '', si_text MEDIUMTEXT NOT NULL, UNIQUE KEY si_page (si_page), FULLTEXT KEY si_title (si_title), FULLTEXT KEY si_text (si_text)) ENGINE=MyISAM DEFAULT CHARSET=utf8mb3;
CREATE TABLE objectcache (keyname VARBINARY(255) NOT NULL DEFAULT '' PRIMARY KEY, value MEDIUMBLOB, exptime BINARY(14), KEY exptime (exptime)) DEFAULT CHARSET=binary;
INSERT INTO page SELECT seq, seq % 16, CONCAT('Страница_', seq, UNHEX('00FFC328')), '', 1 / seq, '20240229120000', seq FROM seq_1_to_500;
INSERT INTO text SELECT seq, COMPRESS(REPEAT(MD5(seq), 100)), 'utf-8,gzip' FROM seq_1_to_500;
INSERT INTO image SELECT CONCAT('Файл', seq, '.png'), 'BITMAP', UNHEX(SHA2(seq, 512)), UNHEX(SHA1(seq)) FROM seq_1_to_40;
INSERT INTO searchindex SELECT seq, CONCAT('page ', seq), REPEAT('words of the page ', 20) FROM seq_1_to_500;
INSERT INTO objectcache VALUES ('', NULL, NULL), (0x00, 0x00, '99991231235959');
