-- A weblog in PHP: dates that are none, texts with serialized values whose lengths count bytes, keys on the beginnings of columns, old engines and old character sets beside new ones.
SET sql_mode = '';
CREATE TABLE wp_posts (ID BIGINT(20) UNSIGNED NOT NULL AUTO_INCREMENT, post_author BIGINT(20) UNSIGNED NOT NULL DEFAULT 0, post_date DATETIME NOT NULL DEFAULT '0000-00-00 00:00:00', post_content LONGTEXT NOT NULL, post_title TEXT NOT NULL, post_name VARCHAR(200) NOT NULL DEFAULT '', post_parent BIGINT(20) UNSIGNED NOT NULL DEFAULT 0, PRIMARY KEY (ID), KEY post_name (post_name(191)), KEY type_status_date (post_date, ID)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;
CREATE TABLE wp_postmeta (meta_id BIGINT(20) UNSIGNED NOT NULL AUTO_INCREMENT, post_id BIGINT(20) UNSIGNED NOT NULL DEFAULT 0, meta_key VARCHAR(255) DEFAULT NULL, meta_value LONGTEXT, PRIMARY KEY (meta_id), KEY post_id (post_id), KEY meta_key (meta_key(191))) DEFAULT CHARSET=utf8mb4;
CREATE TABLE wp_options (option_id BIGINT(20) UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, option_name VARCHAR(191) NOT NULL DEFAULT '', option_value LONGTEXT NOT NULL, autoload VARCHAR(20) NOT NULL DEFAULT 'yes', UNIQUE KEY option_name (option_name)) DEFAULT CHARSET=utf8mb4;
CREATE TABLE wp_old_links (link_id INT PRIMARY KEY, link_url VARCHAR(255) NOT NULL DEFAULT '', FULLTEXT KEY url (link_url)) ENGINE=MyISAM DEFAULT CHARSET=latin1;
CREATE TABLE wp_old_log (id INT, text TEXT) ENGINE=Aria DEFAULT CHARSET=cp1251;
CREATE TABLE wp_empty (id INT) DEFAULT CHARSET=ucs2;
INSERT INTO wp_posts (post_author, post_date, post_content, post_title, post_name) SELECT seq % 3, IF(seq % 10, DATE '2020-01-01' + INTERVAL seq HOUR, '0000-00-00 00:00:00'), REPEAT(CONCAT('<!-- wp:paragraph --><p>It''s "', MD5(seq), '" \\ 👩‍👩‍👧 &amp;</p>\r\n'), 1 + seq % 40), CONCAT('Ünïcode ', seq, ' \\\'; DROP TABLE x; --'), CONCAT('post-', seq) FROM seq_1_to_300;
INSERT INTO wp_posts (post_date, post_content, post_title) VALUES ('2020-00-00 00:00:00', '', '\0\Z\n\t\b');
INSERT INTO wp_postmeta (post_id, meta_key, meta_value) SELECT seq, '_data', CONCAT('a:2:{s:4:"größe";i:', seq, ';s:1:"x";s:4:"🙂";}') FROM seq_1_to_300;
INSERT INTO wp_options (option_name, option_value) VALUES ('home', 'https://example.test'), ('empty', ''), ('binary', X'C3A9'), ('trailing ', 'blank ');
INSERT INTO wp_old_links SELECT seq, CONCAT('http://example.test/?q=é', seq) FROM seq_1_to_40;
INSERT INTO wp_old_log VALUES (1, 'Привет'), (NULL, NULL);
