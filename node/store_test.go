package node

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/dynamo"
)

func TestDataDirectoryOfTableNeedsItsURL(t *testing.T) {
	config, err := Load("", func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	config.Data, config.HTTP, config.SQL, config.Logger = t.TempDir(), "127.0.0.1:0", "none", quiet
	config.Store = "sqlite:" + filepath.Join(config.Data, "rota.db")
	if err := os.WriteFile(filepath.Join(config.Data, dynamo.ReplicaName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	n, err := Open(t.Context(), config)
	if err == nil {
		_ = n.Run(t.Context())
	}
	if rota.CodeOf(err) != rota.Conflict || !strings.Contains(err.Error(), "DynamoDB") {
		t.Errorf("a data directory with the replica of a table: %v", err)
	}
	if exists(filepath.Join(config.Data, "rota.db")) {
		t.Error("a store was created")
	}
}
