package postgres

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
)

// Messages with which the database refuses statements on secrets.
const (
	saysSecretIs       = "the name and the origin of a secret never change"
	saysSecretKeyFirst = "the store knows its key before its first secret"
	saysSecretKeyStays = "the store knows its key as long as it has secrets"
)

const fingerprint = `'0123456789abcdef'`

// secretRows are the key of the store and a secret of a template.
var secretRows = []string{
	`INSERT INTO rota_templates (name, type, state, version, created_by, created_at, updated_at, spec, webhooks, owner, since)
	 VALUES ('backup', 'mail', 'ACTIVE', gen_random_uuid(), 'ada', 7, 7, '{"type":"mail","policy":{}}', 0, 'ada', 7)`,
	`INSERT INTO rota_secret_keys (id, primary_key) VALUES (1, ` + fingerprint + `)`,
	secretSQL("'backup'", "'A'", fingerprint, "'AAEC'"),
}

func secretSQL(template, key, fingerprint, ciphertext string) string {
	return `INSERT INTO rota_secrets (template, key, sealed, fingerprint, version, created_by, created_at, updated_at)
VALUES (` + template + `, ` + key + `, 'sealed:v1:' || ` + fingerprint + ` || ':' || ` + ciphertext + `, ` + fingerprint + `, gen_random_uuid(), 'ada', 7, 7)`
}

// longCiphertext returns a ciphertext with which the text of a secret has as many bytes.
func longCiphertext(bytes int) string {
	return fmt.Sprintf("repeat('A', %d)", bytes-len("sealed:v1:0123456789abcdef:"))
}

// forbiddenSecrets are the forbidden statements on secrets and on the key of the store.
func forbiddenSecrets() (all []attempt) {
	add := func(name, says, sql string) { all = append(all, attempt{name, sql, says}) }
	add("over a secret", "secrets_pkey", secretSQL("'backup'", "'A'", fingerprint, "'AAEC'"))
	add("a secret before the key", saysSecretKeyFirst, `DELETE FROM rota_secrets; DELETE FROM rota_secret_keys; `+secretRows[2])
	add("a secret of no template", "secrets_template_fkey", secretSQL("'missing'", "'A'", fingerprint, "'AAEC'"))
	for key, name := range map[string]string{"": "no", "A-B": "a dash in its", "1A": "a digit first in its", strings.Repeat("A", rota.SecretKeyMax+1): "a long"} {
		add("a secret with "+name+" key", "secrets_key", secretSQL("'backup'", "'"+key+"'", fingerprint, "'AAEC'"))
	}
	add("a fingerprint in capitals", "secrets_fingerprint", secretSQL("'backup'", "'B'", strings.ToUpper(fingerprint), "'AAEC'"))
	add("a short fingerprint", "secrets_prefix", secretSQL("'backup'", "'B'", "'0123456789abcde'", "'AAEC'"))
	add("another fingerprint than that of the ciphertext", "secrets_prefix", `UPDATE rota_secrets SET fingerprint = 'fedcba9876543210'`)
	add("a value that is not sealed", "secrets_prefix", `UPDATE rota_secrets SET sealed = 'plain'`)
	add("no ciphertext", "secrets_sealed", secretSQL("'backup'", "'B'", fingerprint, "''"))
	add("a long ciphertext", "secrets_sealed", secretSQL("'backup'", "'B'", fingerprint, longCiphertext(rota.SealedMax+1)))
	add("a ciphertext that is not base64 for URLs", "secrets_sealed", secretSQL("'backup'", "'B'", fingerprint, "'AA+C'"))
	for column, value := range map[string]string{"template": "'digest'", "key": "'B'", "created_by": "'eve'", "created_at": "8"} {
		add("a secret with another "+column, saysSecretIs, `UPDATE rota_secrets SET `+column+` = `+value)
	}
	for _, column := range []string{"sealed", "fingerprint", "version", "updated_at"} {
		add("a secret without "+column, saysNull, `UPDATE rota_secrets SET `+column+` = NULL`)
	}
	add("two keys", "secret_keys_one", `INSERT INTO rota_secret_keys (id, primary_key) VALUES (2, `+fingerprint+`)`)
	add("a key that is not the one", "secret_keys_one", `UPDATE rota_secret_keys SET id = 2`)
	add("a key with a short fingerprint", "secret_keys_primary", `UPDATE rota_secret_keys SET primary_key = '0123'`)
	add("a key with a fingerprint in capitals", "secret_keys_primary", `UPDATE rota_secret_keys SET primary_key = upper(primary_key)`)
	add("no fingerprint of the key", saysNull, `UPDATE rota_secret_keys SET primary_key = NULL`)
	add("secrets without the key", saysSecretKeyStays, `DELETE FROM rota_secret_keys`)
	add("the key removed with all", saysSecretKeyStays, `TRUNCATE rota_secret_keys`)
	return all
}

// allowedSecrets are allowed statements that resemble the forbidden ones.
var allowedSecrets = []attempt{
	{name: "a secret set again", sql: `UPDATE rota_secrets SET sealed = substr(sealed, 1, 27) || '_-AZ09az', version = gen_random_uuid(), updated_at = 8`},
	{name: "a secret sealed by another key", sql: `UPDATE rota_secrets SET sealed = 'sealed:v1:fedcba9876543210:AAEC', fingerprint = 'fedcba9876543210'`},
	{name: "a secret deleted", sql: `DELETE FROM rota_secrets`},
	{name: "a second secret", sql: secretSQL("'backup'", "'_b9'", fingerprint, "'AAEC'")},
	{name: "the longest secret", sql: secretSQL("'backup'", "'"+strings.Repeat("A", rota.SecretKeyMax)+"'", fingerprint, longCiphertext(rota.SealedMax))},
	{name: "another key", sql: `UPDATE rota_secret_keys SET primary_key = 'fedcba9876543210'`},
}

// TestEarlierVersionRemovesSecrets sends what a process of a version without secrets sends when it changes, gives
// away, recreates and drops a definition.
func TestEarlierVersionRemovesSecrets(t *testing.T) {
	s := openTest(t, Config{Poll: true, Logger: quiet})
	p := newRawConn(t, s, nil)
	for _, sql := range secretRows {
		p.must(sql)
	}
	for _, one := range []struct{ what, sql, left string }{
		{"a change", `UPDATE rota_templates SET spec = '{}', updated_at = 8, owner = 'ada', since = 7 WHERE name = 'backup'`, "1"},
		{"another owner", `UPDATE rota_templates SET owner = 'eve', since = 7 WHERE name = 'backup'`, "1"},
		{"a recreated template", `UPDATE rota_templates SET owner = 'ada', since = 8 WHERE name = 'backup'`, "0"},
		{"a dropped template", `UPDATE rota_templates SET state = 'ARCHIVED', owner = NULL WHERE name = 'backup'`, "0"},
	} {
		t.Run(one.what, func(t *testing.T) {
			p.must("BEGIN")
			defer p.must("ROLLBACK")
			p.must(one.sql)
			if left := p.column(`SELECT count(*) FROM rota_secrets`)[0]; left != one.left {
				t.Errorf("%s secrets are left, want %s", left, one.left)
			}
		})
	}
}
