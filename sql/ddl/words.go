package ddl

// statementWords are the words that a statement may begin with.
var statementWords = []string{
	"CREATE", "ALTER", "DROP", "EXECUTE", "SHOW", "SELECT", "RECREATE", "CANCEL", "EXPLAIN", "GRANT", "REVOKE",
	"WITH", "VALUES", "TABLE", "BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE", "SET", "RESET", "DISCARD",
	"DEALLOCATE",
}

// unsupportedStatements are first words of statements that other databases have.
var unsupportedStatements = map[string]bool{
	"INSERT": true, "UPDATE": true, "DELETE": true, "MERGE": true, "REPLACE": true, "UPSERT": true, "TRUNCATE": true, "COPY": true,
	"ATTACH": true, "DETACH": true, "PRAGMA": true, "VACUUM": true, "ANALYZE": true, "REINDEX": true, "CLUSTER": true, "REFRESH": true,
	"CALL": true, "DO": true, "LOAD": true, "LOCK": true, "COMMENT": true, "IMPORT": true, "REASSIGN": true, "CHECKPOINT": true,
	"RENAME": true, "HANDLER": true, "KILL": true, "FLUSH": true, "OPTIMIZE": true,
}

// unsupportedSessionStatements are first words of statements of other databases about the session or the transaction.
var unsupportedSessionStatements = map[string]bool{
	"USE": true, "PREPARE": true, "DECLARE": true, "FETCH": true, "MOVE": true, "LISTEN": true, "NOTIFY": true, "DESCRIBE": true,
}

// unsupportedObjects are objects that other databases create, alter and drop.
var unsupportedObjects = map[string]bool{
	"TABLE": true, "TEMP": true, "TEMPORARY": true, "UNLOGGED": true, "VIEW": true, "MATERIALIZED": true, "INDEX": true, "UNIQUE": true,
	"TRIGGER": true, "FUNCTION": true, "PROCEDURE": true, "SCHEMA": true, "DATABASE": true, "SEQUENCE": true, "TYPE": true,
	"DOMAIN": true, "EXTENSION": true, "EVENT": true, "VIRTUAL": true, "AGGREGATE": true, "OPERATOR": true, "POLICY": true,
	"PUBLICATION": true, "SUBSCRIPTION": true, "SERVER": true, "FOREIGN": true, "TABLESPACE": true, "COLLATION": true,
	"GLOBAL": true, "LOCAL": true, "SYSTEM": true, "GROUP": true,
}
