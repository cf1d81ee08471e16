package sqlite

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
)

// TestMigrationKeepsTokens migrates a file with a token from before the scope session existed.
func TestMigrationKeepsTokens(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rota.db")
	conn := rawConn(t, path)
	steps, err := fs.Glob(migrations, "migrations/*.sql")
	must(t, err)
	sessions := slices.IndexFunc(steps, func(name string) bool { return strings.HasSuffix(name, "_sessions.sql") })
	execute(t, conn, sqlMetaTable)
	must(t, registerFunctions(conn))
	for i, step := range steps[:sessions] {
		must(t, migrateOne(conn, step, i+1))
	}
	must(t, putMeta(conn, metaClean, "1"))
	hash := strings.Repeat("0123456789abcdef", 4)
	execute(t, conn, `INSERT INTO rota_access_tokens
	 (id, user_name, scope, type, job, hash, verifier, created_by, created_at, expires_at, last_used_at, revoked_at, revoked_by)
	 VALUES ('token001', 'admin', 'worker', 'mail', 'nightly', '`+hash+`', 'v', 'ada', 1, 2, 3, 4, 'bob')`)
	must(t, conn.Close())

	s, err := OpenWith(path, Config{Logger: quiet})
	must(t, err)
	defer s.Close()
	got, err := s.AccessToken(t.Context(), "token001")
	must(t, err)
	if got.User != "admin" || got.Scope != rota.ScopeWorker || got.Type != "mail" || got.Job != "nightly" || got.Hash != hash || got.Verifier != "v" || got.CreatedBy != "ada" ||
		got.CreatedAt.UnixMicro() != 1 || got.ExpiresAt.UnixMicro() != 2 || got.LastUsedAt.UnixMicro() != 3 || got.RevokedAt.UnixMicro() != 4 || got.RevokedBy != "bob" {
		t.Errorf("the token is %+v", got)
	}
	_, err = rota.Do[*rota.TokenPut](t.Context(), s, &rota.PutToken{
		Meta: rota.NewMeta("admin"), TokenID: "token002", User: "admin", Scope: rota.ScopeSession, Hash: hash,
	})
	must(t, err)
}
