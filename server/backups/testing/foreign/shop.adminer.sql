-- Adminer 4.8.1 MySQL 10.11.19-MariaDB-0+deb12u1 dump

SET NAMES utf8;
SET time_zone = '+00:00';
SET foreign_key_checks = 0;
SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO';

DELIMITER ;;

DROP FUNCTION IF EXISTS `twice`;;
CREATE DEFINER=`root`@`localhost` FUNCTION `twice`(a INT) RETURNS int(11)
    NO SQL
    DETERMINISTIC
RETURN a*2;;

DROP PROCEDURE IF EXISTS `fill`;;
CREATE DEFINER=`root`@`localhost` PROCEDURE `fill`(IN n INT, OUT m INT)
    COMMENT 'it''s; p'
BEGIN
  -- a comment; with 'quote
  DECLARE i INT DEFAULT 0;
  WHILE i < n DO
    INSERT INTO log (t) VALUES ('x;y z');
    SET i = i + 1;
  END WHILE;
  SET m = i;
END;;

DROP EVENT IF EXISTS `tidy`;;
CREATE DEFINER=`root`@`localhost` EVENT `tidy` ON SCHEDULE EVERY 1 SECOND STARTS '2036-01-01 00:00:00' ON COMPLETION NOT PRESERVE ENABLE COMMENT 'tidies; often' DO BEGIN DELETE FROM log WHERE id < 5; DELETE FROM files; END;;

DELIMITER ;

DROP VIEW IF EXISTS `a_names`;
CREATE TABLE `a_names` (`name` varchar(60), `n` bigint(21));


SET NAMES utf8mb4;

DROP TABLE IF EXISTS `files`;
CREATE TABLE `files` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `h` binary(4) DEFAULT NULL,
  `b` longblob DEFAULT NULL,
  `p` point DEFAULT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB AUTO_INCREMENT=3 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

INSERT INTO `files` (`id`, `h`, `b`, `p`) VALUES
(1,	UNHEX('00112233'),	'\0\'\"\\\n\r\Z;--',	ST_GeomFromText('POINT(1.5 -2)', SRID(p))),
(2,	NULL,	'',	NULL);

DROP TABLE IF EXISTS `legacy`;
CREATE TABLE `legacy` (
  `k` varchar(20) NOT NULL,
  KEY `k` (`k`(5))
) ENGINE=MyISAM DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci;

INSERT INTO `legacy` (`k`) VALUES
('ä; \'x\''),
('ä');

DROP TABLE IF EXISTS `log`;
CREATE TABLE `log` (
  `id` int(11) NOT NULL AUTO_INCREMENT,
  `t` varchar(200) DEFAULT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;


DROP TABLE IF EXISTS `order items`;
CREATE TABLE `order items` (
  `order_id` int(11) NOT NULL,
  `pos` smallint(6) NOT NULL,
  `user_id` int(10) unsigned DEFAULT NULL,
  `price` decimal(12,4) NOT NULL,
  `qty` int(11) NOT NULL,
  `total` decimal(16,4) GENERATED ALWAYS AS (`price` * `qty`) STORED,
  `twice` int(11) GENERATED ALWAYS AS (`qty` * 2) VIRTUAL,
  `flags` bit(9) NOT NULL DEFAULT b'101',
  `j` longtext DEFAULT NULL,
  `d` datetime(6) DEFAULT NULL,
  `e` enum('a;','b''','ü') DEFAULT NULL,
  PRIMARY KEY (`order_id`,`pos`),
  KEY `u` (`user_id`),
  CONSTRAINT `fk_user` FOREIGN KEY (`user_id`) REFERENCES `users` (`id`) ON DELETE CASCADE ON UPDATE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

INSERT INTO `order items` (`order_id`, `pos`, `user_id`, `price`, `qty`, `total`, `twice`, `flags`, `j`, `d`, `e`) VALUES
(1,	1,	0,	1234567.8901,	3,	3703703.6703,	6,	CONV('111000111', 2, 10) + 0,	'{\"a\": \"b;\'\\\"\", \"🚲\": [1,2]}',	'2020-01-01 01:02:03.123456',	'a;'),
(1,	2,	NULL,	-0.0001,	0,	0.0000,	0,	CONV('0', 2, 10) + 0,	NULL,	'0000-00-00 00:00:00.000000',	'b\''),
(2,	1,	7,	99999999.9999,	1,	99999999.9999,	2,	CONV('1', 2, 10) + 0,	'[]',	NULL,	'ü');

DROP TABLE IF EXISTS `users`;
CREATE TABLE `users` (
  `id` int(10) unsigned NOT NULL AUTO_INCREMENT,
  `name` varchar(60) NOT NULL DEFAULT 'x; y',
  `note` text DEFAULT NULL,
  `born` date NOT NULL DEFAULT '0000-00-00',
  `seen` timestamp NULL DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `n` (`name`),
  FULLTEXT KEY `f` (`note`)
) ENGINE=InnoDB AUTO_INCREMENT=42 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci COMMENT='it''s; "users"';

INSERT INTO `users` (`id`, `name`, `note`, `born`, `seen`) VALUES
(0,	'Łódź 🚲',	'a;b\'c\"d\\e\nline2\r\n-- 2020-01-01 00:00:00\n/* x */ `q` \0 $$ ;;	',	'0000-00-00',	'2020-06-01 12:00:00'),
(7,	'𝒳',	'',	'2020-02-03',	NULL),
(9,	'o\'neil',	NULL,	'1999-12-31',	'1999-12-31 23:59:59');

DELIMITER ;;

CREATE TRIGGER `users_bi` BEFORE INSERT ON `users` FOR EACH ROW
BEGIN IF NEW.note IS NULL THEN SET NEW.note = 'by; trigger'; END IF; END;;

CREATE TRIGGER `users_ai` AFTER INSERT ON `users` FOR EACH ROW
INSERT INTO log (t) VALUES (CONCAT('u', NEW.id));;

DELIMITER ;

DROP VIEW IF EXISTS `z_active`;
CREATE TABLE `z_active` (`id` int(10) unsigned, `name` varchar(60), `d` int(11));


DROP TABLE IF EXISTS `a_names`;
CREATE ALGORITHM=UNDEFINED DEFINER=`root`@`localhost` SQL SECURITY DEFINER VIEW `a_names` AS select `z`.`name` AS `name`,count(0) AS `n` from `z_active` `z` group by `z`.`name`;

DROP TABLE IF EXISTS `z_active`;
CREATE ALGORITHM=UNDEFINED DEFINER=`root`@`localhost` SQL SECURITY DEFINER VIEW `z_active` AS select `users`.`id` AS `id`,`users`.`name` AS `name`,`twice`(`users`.`id`) AS `d` from `users` where `users`.`name` <> 'a;b';

-- 2026-11-27 23:05:51
