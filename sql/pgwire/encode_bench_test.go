package pgwire

import (
	"testing"
	"time"

	"github.com/rotajobs/rota/sql/kind"
)

// BenchmarkEncode encodes a value of each kind in both formats.
func BenchmarkEncode(b *testing.B) {
	settings := &formatSettings{zone: time.UTC}
	for _, row := range []struct {
		kind  kind.Kind
		value any
	}{
		{kind.Text, "a text"},
		{kind.Integer, int64(42)},
		{kind.Timestamp, "2026-11-15T09:00:00.000000Z"},
		{kind.Numeric, 12.5},
		{kind.Date, "2026-11-15"},
		{kind.Time, "09:00:00.000000"},
		{kind.Interval, "1 2 3000000"},
		{kind.Inet, "127.0.0.1"},
		{kind.Int2s, "[1,2,3]"},
		{kind.OIDs, "[1,2,3]"},
		{kind.Text.Array(), `["a","b c"]`},
		{kind.Integer.Array(), "[1,2,3]"},
		{kind.Timestamp.Array(), `["2026-11-15T09:00:00.000000Z"]`},
		{kind.Record, `{"f1":1,"f2":"a"}`},
	} {
		c := coderOf(row.kind)
		for format, encode := range map[string]encoder{"text": c.text, "binary": c.binary} {
			if row.kind == kind.Record && format == "binary" {
				continue
			}
			b.Run(string(row.kind)+"/"+format, func(b *testing.B) {
				b.ReportAllocs()
				var dst []byte
				for b.Loop() {
					var err error
					if dst, err = encode(dst[:0], row.value, settings); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
