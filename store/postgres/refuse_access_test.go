package postgres

// Messages with which the database refuses statements on principals and tokens.
const (
	saysPrincipalIs = "the name, the kind and the origin of a principal never change"
	saysTokenIs     = "what a token allows never changes"
	saysTokenOnce   = "a token is revoked once"
)

// accessRows are two users, a role, a token that was revoked, one that was not, and the version of all.
var accessRows = []string{
	principalSQL("'alice'", "'USER'", "'cn'"),
	principalSQL("'bob'", "'USER'", "NULL"),
	principalSQL("'ops'", "'ROLE'", "NULL"),
	tokenSQL("'token001'", "'read'", "NULL", hash64),
	tokenSQL("'token002'", "'worker'", "'mail'", hash64),
	`UPDATE rota_access_tokens SET revoked_at = 8, revoked_by = 'ada' WHERE id = 'token002'`,
	`INSERT INTO rota_access_state (id, version) VALUES (1, gen_random_uuid())`,
}

func principalSQL(name, kind, certificate string) string {
	return `INSERT INTO rota_principals (name, kind, certificate, version, created_by, created_at, updated_at, spec)
VALUES (` + name + `, ` + kind + `, ` + certificate + `, gen_random_uuid(), 'ada', 7, 7, '{}')`
}

func tokenSQL(id, scope, typ, hash string) string {
	return `INSERT INTO rota_access_tokens (id, user_name, scope, type, hash, created_by, created_at)
VALUES (` + id + `, 'alice', ` + scope + `, ` + typ + `, ` + hash + `, 'ada', 7)`
}

// forbiddenAccess are the forbidden statements on principals and tokens.
func forbiddenAccess() (all []attempt) {
	add := func(name, says, sql string) { all = append(all, attempt{name, sql, says}) }
	add("over a principal", "principals_pkey", principalSQL("'alice'", "'USER'", "NULL"))
	add("over a certificate", "principals_certificate", principalSQL("'carol'", "'USER'", "'cn'"))
	add("a certificate of another user", "principals_certificate", `UPDATE rota_principals SET certificate = 'cn' WHERE name = 'bob'`)
	for column, value := range map[string]string{"name": "'other'", "kind": "'ROLE'", "created_by": "'eve'", "created_at": "8"} {
		add("a principal with another "+column, saysPrincipalIs, `UPDATE rota_principals SET `+column+` = `+value+` WHERE name = 'bob'`)
	}
	for _, column := range []string{"version", "updated_at", "spec"} {
		add("a principal without "+column, saysNull, `UPDATE rota_principals SET `+column+` = NULL`)
	}
	add("a certificate of a role", "principals_kind", `UPDATE rota_principals SET certificate = 'other' WHERE name = 'ops'`)
	add("a principal without a name", "principals_name", principalSQL("''", "'USER'", "NULL"))
	add("a principal of no known kind", "principals_kind", principalSQL("'x'", "'GROUP'", "NULL"))
	add("over a token", "access_tokens_pkey", tokenSQL("'token001'", "'write'", "NULL", hash64))
	for column, value := range map[string]string{
		"id": "'token003'", "user_name": "'eve'", "scope": "'worker'", "job": "'nightly'", "hash": "upper(hash)", "verifier": "'x'",
		"created_by": "'eve'", "created_at": "8", "expires_at": "99",
	} {
		add("a token with another "+column, saysTokenIs, `UPDATE rota_access_tokens SET `+column+` = `+value+` WHERE id = 'token001'`)
	}
	add("a token with another type", saysTokenIs, `UPDATE rota_access_tokens SET type = 'web' WHERE id = 'token002'`)
	add("a revocation taken back", saysTokenOnce, `UPDATE rota_access_tokens SET revoked_at = NULL, revoked_by = NULL WHERE id = 'token002'`)
	add("a later revocation", saysTokenOnce, `UPDATE rota_access_tokens SET revoked_at = 9 WHERE id = 'token002'`)
	add("a revocation by another", saysTokenOnce, `UPDATE rota_access_tokens SET revoked_by = 'eve' WHERE id = 'token002'`)
	add("a token revoked by an actor at no time", "access_tokens_revoked", `UPDATE rota_access_tokens SET revoked_by = 'eve' WHERE id = 'token001'`)
	add("a use at no time", "out of range", `UPDATE rota_access_tokens SET last_used_at = 1e30`)
	add("a short id", "access_tokens_id", tokenSQL("'token'", "'read'", "NULL", hash64))
	add("a long id", "access_tokens_id", tokenSQL("'0123456789abcdef0123456789abcdef0'", "'read'", "NULL", hash64))
	add("an unknown scope", "access_tokens_scope", tokenSQL("'token003'", "'admin'", "NULL", hash64))
	add("a type of a reader", "access_tokens_scope", tokenSQL("'token003'", "'read'", "'mail'", hash64))
	add("a type of a writer", "access_tokens_scope", tokenSQL("'token003'", "'write'", "'mail'", hash64))
	add("a short hash", "access_tokens_hash", tokenSQL("'token003'", "'read'", "NULL", "'0123'"))
	add("a type of a session", "access_tokens_scope", tokenSQL("'token003'", "'session'", "'mail'", hash64))
	add("a session for one job", "access_tokens_scope", `INSERT INTO rota_access_tokens (id, user_name, scope, job, hash, created_at) VALUES ('token003', 'ada', 'session', 'nightly', `+hash64+`, 7)`)
	add("a token of nobody", "access_tokens_user", `INSERT INTO rota_access_tokens (id, user_name, scope, hash, created_at) VALUES ('token003', '', 'read', `+hash64+`, 7)`)
	add("two versions", "access_state_one", `INSERT INTO rota_access_state (id, version) VALUES (2, gen_random_uuid())`)
	add("a version that is not the one", "access_state_one", `UPDATE rota_access_state SET id = 2`)
	add("no version", saysNull, `UPDATE rota_access_state SET version = NULL`)
	return all
}

// allowedAccess are allowed statements that resemble the forbidden ones.
var allowedAccess = []attempt{
	{name: "a principal changed", sql: `UPDATE rota_principals SET certificate = NULL, version = gen_random_uuid(), updated_at = 8, spec = '{}' WHERE name = 'alice'`},
	{name: "a certificate of a user", sql: `UPDATE rota_principals SET certificate = 'other' WHERE name = 'bob'`},
	{name: "a principal dropped", sql: `DELETE FROM rota_principals WHERE name = 'ops'`},
	{name: "a token used", sql: `UPDATE rota_access_tokens SET last_used_at = 9`},
	{name: "a token revoked", sql: `UPDATE rota_access_tokens SET revoked_at = 9, revoked_by = 'ada' WHERE id = 'token001'`},
	{name: "a token of a worker", sql: tokenSQL("'token003'", "'worker'", "NULL", hash64)},
	{name: "another version", sql: `UPDATE rota_access_state SET version = gen_random_uuid()`},
}
