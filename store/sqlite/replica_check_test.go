package sqlite

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite/sqlitetest"
)

func TestCheckReplica(t *testing.T) {
	r := divergedReplica(t, "log", 150)
	position, err := CheckReplica(t.Context(), r.path) // while it is open
	must(t, err)
	if position != r.Applied() {
		t.Errorf("at %+v, want %+v", position, r.Applied())
	}
	content, err := os.ReadFile(copyReplica(t, r))
	must(t, err)
	for name, change := range map[string]func(b []byte) []byte{
		"cut between pages": func(b []byte) []byte { return b[:len(b)-4096] },
		"cut in a page":     func(b []byte) []byte { return b[:len(b)-1000] },
		"garbage": func(b []byte) []byte {
			for at := 4096 * 20; at < 4096*40; at++ {
				b[at] = byte(rand.IntN(256))
			}
			return b
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(sqlitetest.MemoryDir(t), "damaged.db")
			must(t, os.WriteFile(path, change(append([]byte(nil), content...)), 0o600))
			_, err := CheckReplica(t.Context(), path)
			checkError(t, err, rota.Internal, "the file is damaged")
		})
	}
}

// TestCheckReplicaNoticesCutText has the last page belong to a long text, which PRAGMA quick_check does not read.
func TestCheckReplicaNoticesCutText(t *testing.T) {
	longText := []byte(`{"text": "` + strings.Repeat("x", 100_000) + `"}`)
	r := openReplica(t)
	applyAt(t, r, entry(1, noon, enqueue(rota.NewJob{Type: "mail", Params: longText})))
	path := copyReplica(t, r)
	info, err := os.Stat(path)
	must(t, err)
	must(t, os.Truncate(path, info.Size()-10))
	_, err = CheckReplica(t.Context(), path)
	checkError(t, err, rota.Internal, "the file is damaged")
}
