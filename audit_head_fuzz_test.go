package rota_test

import (
	"crypto/ed25519"
	"encoding/json"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// FuzzParseAuditHeads parses any text: what is accepted has a right signature, also after it was encoded again.
func FuzzParseAuditHeads(f *testing.F) {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	state := rota.AuditState{Head: rota.AuditPoint{Seq: 7, Hash: rota.AuditHash{1}}}
	signed, err := json.Marshal(rota.SignAuditHead(key, "local", state, time.UnixMicro(1)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(signed)
	f.Add([]byte("{}\n\n[]"))
	f.Add([]byte(`{"seq": -1, "hash": "00"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		heads, err := rota.ParseAuditHeads(text)
		if err != nil {
			return
		}
		for _, h := range heads {
			again, err := json.Marshal(h)
			if err != nil {
				t.Fatal(err)
			}
			if parsed, err := rota.ParseAuditHeads(again); err != nil || !parsed[0].Valid() || parsed[0].Seq != h.Seq {
				t.Errorf("%s is not accepted again: %v", again, err)
			}
		}
	})
}
