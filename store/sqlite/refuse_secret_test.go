package sqlite

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite/sqlitex"
)

// Texts of the refusals of secrets.
const (
	saysSecretThere    = "this secret exists"
	saysSecretIs       = "the name and the origin of a secret never change"
	saysSecretTemplate = "a secret belongs to a template that exists"
	saysSecretKeyFirst = "the store knows its key before its first secret"
	saysSecretKeyStays = "the store knows its key as long as it has secrets"
	saysSecretsLeave   = "a template leaves after its secrets"
)

const fingerprint = `'0123456789abcdef'`

// secretRows are the key of the store and a secret of a template.
var secretRows = []string{
	`INSERT INTO rota_templates (name, type, state, version, created_by, created_at, updated_at, spec, webhooks, owner, since)
	 VALUES ('backup', 'mail', 'ACTIVE', randomblob(16), 'ada', 7, 7, '{"type":"mail","policy":{}}', 0, 'ada', 7)`,
	`INSERT INTO rota_secret_keys (id, primary_key) VALUES (1, ` + fingerprint + `)`,
	secretSQL("INSERT", "'backup'", "'A'", fingerprint, "'AAEC'"),
}

func secretSQL(verb, template, key, fingerprint, ciphertext string) string {
	return verb + ` INTO rota_secrets (template, key, sealed, fingerprint, version, created_by, created_at, updated_at)
VALUES (` + template + `, ` + key + `, 'sealed:v1:' || ` + fingerprint + ` || ':' || ` + ciphertext + `, ` + fingerprint + `, randomblob(16), 'ada', 7, 7)`
}

// longCiphertext returns a ciphertext with which the text of a secret has as many bytes.
func longCiphertext(bytes int) string {
	return fmt.Sprintf("replace(hex(zeroblob(%d)), '00', 'A')", bytes-len("sealed:v1:0123456789abcdef:"))
}

// forbiddenSecrets are the forbidden statements on secrets and on the key of the store.
func forbiddenSecrets() (all []attempt) {
	add := func(name, says, sql string) { all = append(all, attempt{name, sql, says}) }
	for _, or := range []string{"INSERT", "INSERT OR REPLACE", "INSERT OR IGNORE", "REPLACE"} {
		add(or+" over a secret", saysSecretThere, secretSQL(or, "'backup'", "'A'", fingerprint, "'AAEC'"))
	}
	add("a secret of no template", saysSecretTemplate, secretSQL("INSERT", "'missing'", "'A'", fingerprint, "'AAEC'"))
	for key, name := range map[string]string{"": "no", "A-B": "a dash in its", "1A": "a digit first in its", strings.Repeat("A", rota.SecretKeyMax+1): "a long"} {
		add("a secret with "+name+" key", saysCheck, secretSQL("INSERT", "'backup'", "'"+key+"'", fingerprint, "'AAEC'"))
	}
	add("a fingerprint in capitals", saysCheck, secretSQL("INSERT", "'backup'", "'B'", strings.ToUpper(fingerprint), "'AAEC'"))
	add("a short fingerprint", saysCheck, secretSQL("INSERT", "'backup'", "'B'", "'0123456789abcde'", "'AAEC'"))
	add("another fingerprint than that of the ciphertext", saysCheck, `UPDATE rota_secrets SET fingerprint = 'fedcba9876543210'`)
	add("a value that is not sealed", saysCheck, `UPDATE rota_secrets SET sealed = 'plain'`)
	add("no ciphertext", saysCheck, secretSQL("INSERT", "'backup'", "'B'", fingerprint, "''"))
	add("a long ciphertext", saysCheck, secretSQL("INSERT", "'backup'", "'B'", fingerprint, longCiphertext(rota.SealedMax+1)))
	add("a ciphertext that is not base64 for URLs", saysCheck, secretSQL("INSERT", "'backup'", "'B'", fingerprint, "'AA+C'"))
	for column, value := range map[string]string{"template": "'digest'", "key": "'B'", "created_by": "'eve'", "created_at": "8"} {
		add("a secret with another "+column, saysSecretIs, `UPDATE rota_secrets SET `+column+` = `+value)
	}
	for _, column := range []string{"sealed", "fingerprint", "version", "updated_at"} {
		add("a secret without "+column, saysNull, `UPDATE rota_secrets SET `+column+` = NULL`)
	}
	add("two keys", saysCheck, `INSERT INTO rota_secret_keys (id, primary_key) VALUES (2, `+fingerprint+`)`)
	add("a key that is not the one", saysCheck, `UPDATE rota_secret_keys SET id = 2`)
	add("a key with a short fingerprint", saysCheck, `UPDATE rota_secret_keys SET primary_key = '0123'`)
	add("a key with a fingerprint in capitals", saysCheck, `UPDATE rota_secret_keys SET primary_key = upper(primary_key)`)
	add("no fingerprint of the key", saysNull, `UPDATE rota_secret_keys SET primary_key = NULL`)
	add("secrets without the key", saysSecretKeyStays, `DELETE FROM rota_secret_keys`)
	add("a template removed before its secrets", saysSecretsLeave, `DELETE FROM rota_templates WHERE name = 'backup'`)
	return all
}

// allowedSecrets are allowed statements that resemble the forbidden ones.
var allowedSecrets = []attempt{
	{name: "a secret set again", sql: `UPDATE rota_secrets SET sealed = substr(sealed, 1, 27) || '_-AZ09az', version = randomblob(16), updated_at = 8`},
	{name: "a secret sealed by another key", sql: `UPDATE rota_secrets SET sealed = 'sealed:v1:fedcba9876543210:AAEC', fingerprint = 'fedcba9876543210'`},
	{name: "a secret deleted", sql: `DELETE FROM rota_secrets`},
	{name: "a second secret", sql: secretSQL("INSERT", "'backup'", "'_b9'", fingerprint, "'AAEC'")},
	{name: "the longest secret", sql: secretSQL("INSERT", "'backup'", "'"+strings.Repeat("A", rota.SecretKeyMax)+"'", fingerprint, longCiphertext(rota.SealedMax))},
	{name: "another key", sql: `UPDATE rota_secret_keys SET primary_key = 'fedcba9876543210'`},
}

// TestSecretNeedsKey inserts a secret into a store that does not know its key.
func TestSecretNeedsKey(t *testing.T) {
	s := openTest(t, Config{})
	conn := rawConn(t, s.path)
	execute(t, conn, secretRows[0])
	err := sqlitex.ExecuteTransient(conn, secretRows[2], nil)
	if err == nil || !strings.Contains(err.Error(), saysSecretKeyFirst) {
		t.Errorf("answered with %v", err)
	}
	execute(t, conn, secretRows[1])
	execute(t, conn, secretRows[2])
}
