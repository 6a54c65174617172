-- phpMyAdmin SQL Dump
-- version 5.2.1deb1+deb12u1
-- https://www.phpmyadmin.net/
--
-- Host: 127.0.0.1:4711
-- Generation Time: Nov 27, 2026 at 11:05 PM
-- Server version: 10.11.19-MariaDB-0+deb12u1
-- PHP Version: 8.2.36

SET SQL_MODE = "NO_AUTO_VALUE_ON_ZERO";
START TRANSACTION;
SET time_zone = "+00:00";


/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;
/*!40101 SET @OLD_CHARACTER_SET_RESULTS=@@CHARACTER_SET_RESULTS */;
/*!40101 SET @OLD_COLLATION_CONNECTION=@@COLLATION_CONNECTION */;
/*!40101 SET NAMES utf8mb4 */;

--
-- Database: `shop`
--

DELIMITER $$
--
-- Procedures
--
CREATE DEFINER=`root`@`localhost` PROCEDURE `fill` (IN `n` INT, OUT `m` INT)  COMMENT 'it''s; p' BEGIN
  -- a comment; with 'quote
  DECLARE i INT DEFAULT 0;
  WHILE i < n DO
    INSERT INTO log (t) VALUES ('x;y z');
    SET i = i + 1;
  END WHILE;
  SET m = i;
END$$

--
-- Functions
--
CREATE DEFINER=`root`@`localhost` FUNCTION `twice` (`a` INT) RETURNS INT(11) DETERMINISTIC NO SQL RETURN a*2$$

DELIMITER ;

-- --------------------------------------------------------

--
-- Stand-in structure for view `a_names`
-- (See below for the actual view)
--
CREATE TABLE `a_names` (
`name` varchar(60)
,`n` bigint(21)
);

-- --------------------------------------------------------

--
-- Table structure for table `files`
--

CREATE TABLE `files` (
  `id` bigint(20) NOT NULL,
  `h` binary(4) DEFAULT NULL,
  `b` longblob DEFAULT NULL,
  `p` point DEFAULT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

--
-- Dumping data for table `files`
--

INSERT INTO `files` (`id`, `h`, `b`, `p`) VALUES
(1, 0x00112233, 0x0027225c0a0d1a3b2d2d, 0x000000000101000000000000000000f83f00000000000000c0),
(2, NULL, '', NULL);

-- --------------------------------------------------------

--
-- Table structure for table `legacy`
--

CREATE TABLE `legacy` (
  `k` varchar(20) NOT NULL
) ENGINE=MyISAM DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci;

--
-- Dumping data for table `legacy`
--

INSERT INTO `legacy` (`k`) VALUES
('ä; \'x\''),
('ä');

-- --------------------------------------------------------

--
-- Table structure for table `log`
--

CREATE TABLE `log` (
  `id` int(11) NOT NULL,
  `t` varchar(200) DEFAULT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- --------------------------------------------------------

--
-- Table structure for table `order items`
--

CREATE TABLE `order items` (
  `order_id` int(11) NOT NULL,
  `pos` smallint(6) NOT NULL,
  `user_id` int(10) UNSIGNED DEFAULT NULL,
  `price` decimal(12,4) NOT NULL,
  `qty` int(11) NOT NULL,
  `total` decimal(16,4) GENERATED ALWAYS AS (`price` * `qty`) STORED,
  `twice` int(11) GENERATED ALWAYS AS (`qty` * 2) VIRTUAL,
  `flags` bit(9) NOT NULL DEFAULT b'101',
  `j` longtext DEFAULT NULL,
  `d` datetime(6) DEFAULT NULL,
  `e` enum('a;','b''','ü') DEFAULT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

--
-- Dumping data for table `order items`
--

INSERT INTO `order items` (`order_id`, `pos`, `user_id`, `price`, `qty`, `flags`, `j`, `d`, `e`) VALUES
(1, 1, 0, 1234567.8901, 3, b'111000111', '{\"a\": \"b;\'\\\"\", \"🚲\": [1,2]}', '2020-01-01 01:02:03.123456', 'a;'),
(1, 2, NULL, -0.0001, 0, b'000000000', NULL, '0000-00-00 00:00:00.000000', 'b\''),
(2, 1, 7, 99999999.9999, 1, b'000000001', '[]', NULL, 'ü');

-- --------------------------------------------------------

--
-- Table structure for table `users`
--

CREATE TABLE `users` (
  `id` int(10) UNSIGNED NOT NULL,
  `name` varchar(60) NOT NULL DEFAULT 'x; y',
  `note` text DEFAULT NULL,
  `born` date NOT NULL DEFAULT '0000-00-00',
  `seen` timestamp NULL DEFAULT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci COMMENT='it''s; "users"';

--
-- Dumping data for table `users`
--

INSERT INTO `users` (`id`, `name`, `note`, `born`, `seen`) VALUES
(0, 'Łódź 🚲', 'a;b\'c\"d\\e\nline2\r\n-- 2020-01-01 00:00:00\n/* x */ `q` \0 $$ ;;	', '0000-00-00', '2020-06-01 12:00:00'),
(7, '𝒳', '', '2020-02-03', NULL),
(9, 'o\'neil', NULL, '1999-12-31', '1999-12-31 23:59:59');

--
-- Triggers `users`
--
DELIMITER $$
CREATE TRIGGER `users_ai` AFTER INSERT ON `users` FOR EACH ROW INSERT INTO log (t) VALUES (CONCAT('u', NEW.id))
$$
DELIMITER ;
DELIMITER $$
CREATE TRIGGER `users_bi` BEFORE INSERT ON `users` FOR EACH ROW BEGIN IF NEW.note IS NULL THEN SET NEW.note = 'by; trigger'; END IF; END
$$
DELIMITER ;

-- --------------------------------------------------------

--
-- Stand-in structure for view `z_active`
-- (See below for the actual view)
--
CREATE TABLE `z_active` (
`id` int(10) unsigned
,`name` varchar(60)
,`d` int(11)
);

-- --------------------------------------------------------

--
-- Structure for view `a_names`
--
DROP TABLE IF EXISTS `a_names`;

CREATE ALGORITHM=UNDEFINED DEFINER=`root`@`localhost` SQL SECURITY DEFINER VIEW `a_names`  AS SELECT `z`.`name` AS `name`, count(0) AS `n` FROM `z_active` AS `z` GROUP BY `z`.`name` ;

-- --------------------------------------------------------

--
-- Structure for view `z_active`
--
DROP TABLE IF EXISTS `z_active`;

CREATE ALGORITHM=UNDEFINED DEFINER=`root`@`localhost` SQL SECURITY DEFINER VIEW `z_active`  AS SELECT `users`.`id` AS `id`, `users`.`name` AS `name`, `twice`(`users`.`id`) AS `d` FROM `users` WHERE `users`.`name` <> 'a;b' ;

--
-- Indexes for dumped tables
--

--
-- Indexes for table `files`
--
ALTER TABLE `files`
  ADD PRIMARY KEY (`id`);

--
-- Indexes for table `legacy`
--
ALTER TABLE `legacy`
  ADD KEY `k` (`k`(5));

--
-- Indexes for table `log`
--
ALTER TABLE `log`
  ADD PRIMARY KEY (`id`);

--
-- Indexes for table `order items`
--
ALTER TABLE `order items`
  ADD PRIMARY KEY (`order_id`,`pos`),
  ADD KEY `u` (`user_id`);

--
-- Indexes for table `users`
--
ALTER TABLE `users`
  ADD PRIMARY KEY (`id`),
  ADD UNIQUE KEY `n` (`name`);
ALTER TABLE `users` ADD FULLTEXT KEY `f` (`note`);

--
-- AUTO_INCREMENT for dumped tables
--

--
-- AUTO_INCREMENT for table `files`
--
ALTER TABLE `files`
  MODIFY `id` bigint(20) NOT NULL AUTO_INCREMENT, AUTO_INCREMENT=3;

--
-- AUTO_INCREMENT for table `log`
--
ALTER TABLE `log`
  MODIFY `id` int(11) NOT NULL AUTO_INCREMENT;

--
-- AUTO_INCREMENT for table `users`
--
ALTER TABLE `users`
  MODIFY `id` int(10) UNSIGNED NOT NULL AUTO_INCREMENT, AUTO_INCREMENT=42;

--
-- Constraints for dumped tables
--

--
-- Constraints for table `order items`
--
ALTER TABLE `order items`
  ADD CONSTRAINT `fk_user` FOREIGN KEY (`user_id`) REFERENCES `users` (`id`) ON DELETE CASCADE ON UPDATE CASCADE;

DELIMITER $$
--
-- Events
--
CREATE DEFINER=`root`@`localhost` EVENT `tidy` ON SCHEDULE EVERY 1 SECOND STARTS '2036-01-01 00:00:00' ON COMPLETION NOT PRESERVE ENABLE COMMENT 'tidies; often' DO BEGIN DELETE FROM log WHERE id < 5; DELETE FROM files; END$$

DELIMITER ;
COMMIT;

/*!40101 SET CHARACTER_SET_CLIENT=@OLD_CHARACTER_SET_CLIENT */;
/*!40101 SET CHARACTER_SET_RESULTS=@OLD_CHARACTER_SET_RESULTS */;
/*!40101 SET COLLATION_CONNECTION=@OLD_COLLATION_CONNECTION */;
