-- A shop that lends films, as tutorials for MySQL have it: places on a map, texts that are searched, years and sets, triggers that keep a copy, procedures that answer.
CREATE TABLE language (language_id TINYINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, name CHAR(20) NOT NULL, last_update TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP);
CREATE TABLE film (
  film_id SMALLINT UNSIGNED NOT NULL AUTO_INCREMENT, title VARCHAR(128) NOT NULL, description TEXT, release_year YEAR, language_id TINYINT UNSIGNED NOT NULL,
  rate DECIMAL(4,2) NOT NULL DEFAULT 4.99, length SMALLINT UNSIGNED, rating ENUM('G','PG','PG-13','R','NC-17') DEFAULT 'G',
  special_features SET('Trailers','Commentaries','Deleted Scenes','Behind the Scenes'), runs TIME(3), score FLOAT,
  PRIMARY KEY (film_id), KEY idx_title (title), KEY idx_short (description(20)), CONSTRAINT fk_film_language FOREIGN KEY (language_id) REFERENCES language (language_id) ON DELETE RESTRICT ON UPDATE CASCADE
);
CREATE TABLE film_text (film_id SMALLINT NOT NULL PRIMARY KEY, title VARCHAR(255) NOT NULL, description TEXT, FULLTEXT KEY idx_title_description (title, description));
CREATE TABLE address (address_id INT PRIMARY KEY AUTO_INCREMENT, address VARCHAR(50), location GEOMETRY NOT NULL, SPATIAL KEY idx_location (location));
CREATE TABLE staff (staff_id TINYINT UNSIGNED PRIMARY KEY, picture BLOB, password VARCHAR(40) CHARACTER SET utf8mb3 COLLATE utf8mb3_bin, store_id TINYINT UNSIGNED NOT NULL);
CREATE TABLE store (store_id TINYINT UNSIGNED PRIMARY KEY, manager_id TINYINT UNSIGNED NOT NULL UNIQUE, CONSTRAINT fk_manager FOREIGN KEY (manager_id) REFERENCES staff (staff_id));
SET foreign_key_checks = 0;
ALTER TABLE staff ADD CONSTRAINT fk_store FOREIGN KEY (store_id) REFERENCES store (store_id);
INSERT INTO staff VALUES (1, 0x89504E470D0A1A0A00FF27225C, NULL, 1), (2, NULL, 'é', 2);
INSERT INTO store VALUES (1, 1), (2, 2);
SET foreign_key_checks = 1;
DELIMITER ;;
CREATE TRIGGER ins_film AFTER INSERT ON film FOR EACH ROW BEGIN
  INSERT INTO film_text (film_id, title, description) VALUES (NEW.film_id, NEW.title, NEW.description);
END;;
CREATE TRIGGER upd_film AFTER UPDATE ON film FOR EACH ROW BEGIN
  IF (OLD.title != NEW.title) OR (OLD.description != NEW.description) THEN
    UPDATE film_text SET title = NEW.title, description = NEW.description WHERE film_id = OLD.film_id;
  END IF;
END;;
CREATE TRIGGER second_upd_film AFTER UPDATE ON film FOR EACH ROW FOLLOWS upd_film SET @changed = NEW.film_id;;
CREATE FUNCTION in_stock(p_film INT) RETURNS TINYINT(1) READS SQL DATA BEGIN
  DECLARE found INT; SELECT COUNT(*) INTO found FROM film WHERE film_id = p_film; RETURN found > 0;
END;;
CREATE PROCEDURE films_of(IN p_rating VARCHAR(5), OUT p_count INT) READS SQL DATA SQL SECURITY INVOKER COMMENT 'it''s; counted' BEGIN
  SELECT title FROM film WHERE rating = p_rating; SELECT FOUND_ROWS() INTO p_count;
END;;
CREATE EVENT nightly ON SCHEDULE EVERY 1 DAY STARTS '2037-01-01 02:00:00' ON COMPLETION PRESERVE DISABLE COMMENT 'kept' DO BEGIN DELETE FROM film_text WHERE film_id < 0; END;;
DELIMITER ;
CREATE VIEW film_list AS SELECT f.film_id AS FID, f.title, l.name AS `language name`, in_stock(f.film_id) AS stock FROM film f LEFT JOIN language l ON l.language_id = f.language_id;
CREATE ALGORITHM=MERGE SQL SECURITY INVOKER VIEW a_list_of_lists AS SELECT FID, UPPER(title) AS title FROM film_list WHERE FID < 100;
INSERT INTO language (name, last_update) VALUES ('English', '2006-02-15 05:02:19'), ('Français', '2006-02-15 05:02:19');
INSERT INTO film (title, description, release_year, language_id, length, rating, special_features, runs, score)
  SELECT CONCAT('FILM ', seq, IF(seq % 7, '', ' „Größe“ 🎬')), REPEAT(CONCAT('A tale of ', MD5(seq), '.\n'), seq % 9), 1901 + seq % 200, 1 + seq % 2, seq % 180,
    ELT(1 + seq % 5, 'G', 'PG', 'PG-13', 'R', 'NC-17'), seq % 16, SEC_TO_TIME(seq * 61.125), 99999.99 / seq FROM seq_1_to_400;
INSERT INTO address (address, location) SELECT CONCAT(seq, ' O''Street'), ST_GeomFromText(CONCAT('POLYGON((0 0,', seq, ' 0,', seq, ' ', seq / 3, ',0 0))')) FROM seq_1_to_50;
