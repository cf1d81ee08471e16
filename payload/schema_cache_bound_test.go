package payload

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/rotajobs/rota"
)

func TestFullSchemaCacheEvictsAnEntry(t *testing.T) {
	cache := NewSchemaCache()
	for i := range schemasMax + 10 {
		name := fmt.Sprintf("type%d", i)
		cache.add(name, cacheEntry{version: rota.NewID()})
	}
	if len(cache.entries) != schemasMax {
		t.Errorf("the cache keeps %d entries, want %d", len(cache.entries), schemasMax)
	}
	last := &rota.Type{Name: "last", Version: rota.NewID(), Spec: rota.TypeSpec{Schema: json.RawMessage(`{}`)}}
	if err := cache.Check(last, nil); err != nil {
		t.Error(err)
	}
	if cache.entries["last"].version != last.Version || cache.lookup(last).compiled != cache.entries["last"].compiled {
		t.Error("the newest entry is not in the cache")
	}
}
