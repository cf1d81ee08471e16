package sqlite

// Texts of the refusals of principals and tokens.
const (
	saysPrincipalThere   = "this principal exists"
	saysPrincipalIs      = "the name, the kind and the origin of a principal never change"
	saysCertificateTaken = "this certificate has a user"
	saysTokenThere       = "this token exists"
	saysTokenIs          = "what a token allows never changes"
	saysTokenOnce        = "a token is revoked once"
)

// accessRows are two users, a role, a token that was revoked, one that was not, and the version of all.
var accessRows = []string{
	principalSQL("INSERT", "'alice'", "'USER'", "'cn'"),
	principalSQL("INSERT", "'bob'", "'USER'", "NULL"),
	principalSQL("INSERT", "'ops'", "'ROLE'", "NULL"),
	tokenSQL("INSERT", "'token001'", "'read'", "NULL", hash64),
	tokenSQL("INSERT", "'token002'", "'worker'", "'mail'", hash64),
	`UPDATE rota_access_tokens SET revoked_at = 8, revoked_by = 'ada' WHERE id = 'token002'`,
	`INSERT INTO rota_access_state (id, version) VALUES (1, randomblob(16))`,
}

func principalSQL(verb, name, kind, certificate string) string {
	return verb + ` INTO rota_principals (name, kind, certificate, version, created_by, created_at, updated_at, spec)
VALUES (` + name + `, ` + kind + `, ` + certificate + `, randomblob(16), 'ada', 7, 7, '{}')`
}

func tokenSQL(verb, id, scope, typ, hash string) string {
	return verb + ` INTO rota_access_tokens (id, user_name, scope, type, hash, created_by, created_at)
VALUES (` + id + `, 'alice', ` + scope + `, ` + typ + `, ` + hash + `, 'ada', 7)`
}

// forbiddenAccess are the statements on principals and tokens that the database refuses.
func forbiddenAccess() (all []attempt) {
	add := func(name, says, sql string) { all = append(all, attempt{name, sql, says}) }
	for _, or := range []string{"INSERT", "INSERT OR REPLACE", "INSERT OR IGNORE", "REPLACE"} {
		add(or+" over a principal", saysPrincipalThere, principalSQL(or, "'alice'", "'USER'", "NULL"))
		add(or+" over a certificate", saysCertificateTaken, principalSQL(or, "'carol'", "'USER'", "'cn'"))
		add(or+" over a token", saysTokenThere, tokenSQL(or, "'token001'", "'write'", "NULL", hash64))
	}
	for column, value := range map[string]string{"name": "'other'", "kind": "'ROLE'", "created_by": "'eve'", "created_at": "8"} {
		add("a principal with another "+column, saysPrincipalIs, `UPDATE rota_principals SET `+column+` = `+value+` WHERE name = 'bob'`)
	}
	for _, column := range []string{"version", "updated_at", "spec"} {
		add("a principal without "+column, saysNull, `UPDATE rota_principals SET `+column+` = NULL`)
	}
	add("a certificate of another user", saysCertificateTaken, `UPDATE rota_principals SET certificate = 'cn' WHERE name = 'bob'`)
	add("an update over a certificate", saysCertificateTaken, `UPDATE OR REPLACE rota_principals SET certificate = 'cn' WHERE name = 'bob'`)
	add("a certificate of a role", saysCheck, `UPDATE rota_principals SET certificate = 'other' WHERE name = 'ops'`)
	add("a principal without a name", saysCheck, principalSQL("INSERT", "''", "'USER'", "NULL"))
	add("a principal of no known kind", saysCheck, principalSQL("INSERT", "'x'", "'GROUP'", "NULL"))
	for column, value := range map[string]string{
		"id": "'token003'", "user_name": "'eve'", "scope": "'worker'", "type": "'web'", "job": "'nightly'", "hash": "upper(hash)", "verifier": "'x'",
		"created_by": "'eve'", "created_at": "8", "expires_at": "99",
	} {
		add("a token with another "+column, saysTokenIs, `UPDATE rota_access_tokens SET `+column+` = `+value+` WHERE id = 'token001'`)
	}
	add("a revocation taken back", saysTokenOnce, `UPDATE rota_access_tokens SET revoked_at = NULL, revoked_by = NULL WHERE id = 'token002'`)
	add("a later revocation", saysTokenOnce, `UPDATE rota_access_tokens SET revoked_at = 9 WHERE id = 'token002'`)
	add("a revocation by another", saysTokenOnce, `UPDATE rota_access_tokens SET revoked_by = 'eve' WHERE id = 'token002'`)
	add("a token revoked by an actor at no time", saysCheck, `UPDATE rota_access_tokens SET revoked_by = 'eve' WHERE id = 'token001'`)
	add("a use at no time", saysType, `UPDATE rota_access_tokens SET last_used_at = 'soon'`)
	add("a short id", saysCheck, tokenSQL("INSERT", "'token'", "'read'", "NULL", hash64))
	add("a long id", saysCheck, tokenSQL("INSERT", "'"+"0123456789abcdef0123456789abcdef0"+"'", "'read'", "NULL", hash64))
	add("a session of one type", saysCheck, tokenSQL("INSERT", "'token003'", "'session'", "'web'", hash64))
	add("an unknown scope", saysCheck, tokenSQL("INSERT", "'token003'", "'admin'", "NULL", hash64))
	add("a type of a reader", saysCheck, tokenSQL("INSERT", "'token003'", "'read'", "'mail'", hash64))
	add("a type of a writer", saysCheck, tokenSQL("INSERT", "'token003'", "'write'", "'mail'", hash64))
	add("a short hash", saysCheck, tokenSQL("INSERT", "'token003'", "'read'", "NULL", "'0123'"))
	add("a session for one job", saysCheck, `INSERT INTO rota_access_tokens (id, user_name, scope, job, hash, created_at) VALUES ('token003', 'ada', 'session', 'nightly', `+hash64+`, 7)`)
	add("a token of nobody", saysCheck, `INSERT INTO rota_access_tokens (id, user_name, scope, hash, created_at) VALUES ('token003', '', 'read', `+hash64+`, 7)`)
	add("two versions", saysCheck, `INSERT INTO rota_access_state (id, version) VALUES (2, randomblob(16))`)
	add("a version that is not the one", saysCheck, `UPDATE rota_access_state SET id = 2`)
	add("a newest time that is no time", saysType, `UPDATE rota_access_state SET newest = 'soon'`)
	add("no version", saysNull, `UPDATE rota_access_state SET version = NULL`)
	return all
}

// allowedAccess are statements that are similar to forbidden ones and pass.
var allowedAccess = []attempt{
	{name: "a principal changed", sql: `UPDATE rota_principals SET certificate = NULL, version = randomblob(16), updated_at = 8, spec = '{}' WHERE name = 'alice'`},
	{name: "a certificate of a user", sql: `UPDATE rota_principals SET certificate = 'other' WHERE name = 'bob'`},
	{name: "a principal dropped", sql: `DELETE FROM rota_principals WHERE name = 'ops'`},
	{name: "a token used", sql: `UPDATE rota_access_tokens SET last_used_at = 9`},
	{name: "a token revoked", sql: `UPDATE rota_access_tokens SET revoked_at = 9, revoked_by = 'ada' WHERE id = 'token001'`},
	{name: "a token of a worker", sql: tokenSQL("INSERT", "'token003'", "'worker'", "NULL", hash64)},
	{name: "another version", sql: `UPDATE rota_access_state SET version = randomblob(16)`},
}
