-- A trader's books, as they came from another kind of database: blanks and quotes in names, views upon views in the wrong order of the alphabet, numbers of every width.
CREATE TABLE `Order Details` (`OrderID` INT, `Product's ID` INT, `UnitPrice` DECIMAL(10,4) NOT NULL DEFAULT 0.0000, `Quantity` SMALLINT(2) ZEROFILL, `Discount` FLOAT NOT NULL DEFAULT 0, PRIMARY KEY (`OrderID`, `Product's ID`), CHECK (`Discount` BETWEEN 0 AND 1));
CREATE TABLE Categories (CategoryID INT PRIMARY KEY AUTO_INCREMENT, CategoryName VARCHAR(15) COLLATE utf8mb4_swedish_ci, Picture LONGBLOB, UNIQUE KEY `name "key"` (CategoryName)) AUTO_INCREMENT = 500 ROW_FORMAT = COMPRESSED COMMENT = 'Meat/Poultry; "x"';
CREATE TABLE Employees (EmployeeID INT PRIMARY KEY, LastName VARCHAR(20) INVISIBLE DEFAULT 'X', Salary FLOAT(9,3), Photo MEDIUMBLOB, Extra JSON, Bits BIT(64), Born DATE, ReportsTo INT, CONSTRAINT `FK Reports` FOREIGN KEY (ReportsTo) REFERENCES Employees (EmployeeID));
CREATE TABLE Wide (a TINYINT, b MEDIUMINT UNSIGNED, c BIGINT UNSIGNED, d DOUBLE, e DECIMAL(65,30), f UUID, g INET6, h DATETIME(6), i BOOLEAN, j TINYTEXT, k VARBINARY(300), l CHAR(0));
CREATE VIEW `Z Products` AS SELECT `Product's ID` AS id, SUM(Quantity) AS many FROM `Order Details` GROUP BY 1;
CREATE VIEW `A Summary` AS SELECT * FROM `Z Products` WHERE many > 10;
CREATE VIEW `0 Top` AS SELECT COUNT(*) AS n FROM `A Summary` UNION SELECT COUNT(*) FROM Employees;
INSERT INTO `Order Details` SELECT seq DIV 3, seq, seq * 1.2345, seq % 99, 0.15 FROM seq_1_to_900;
INSERT INTO Categories (CategoryName, Picture) SELECT CONCAT('Cat ', seq), UNHEX(REPEAT(SHA2(seq, 512), 200)) FROM seq_1_to_8;
INSERT INTO Employees (EmployeeID, LastName, Salary, Extra, Bits, Born, ReportsTo) SELECT seq, CONCAT('Müller\\', seq), 99999.99, JSON_OBJECT('n', seq, 'ü', NULL), seq << 40, DATE '1000-01-01' + INTERVAL seq DAY, NULLIF(seq DIV 2, 0) FROM seq_1_to_9;
INSERT INTO Wide VALUES (-128, 16777215, 18446744073709551615, 1.7976931348623157e308, -0.000000000000000000000000000001, '123e4567-e89b-12d3-a456-426655440000', '2001:db8::ff00:42:8329', '9999-12-31 23:59:59.999999', 1, '', 0x00275C0A0D1A22, ''), (NULL, NULL, NULL, 2.2250738585072014e-308, NULL, NULL, NULL, '0000-00-00 00:00:00', NULL, NULL, NULL, NULL);
