package mask_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rotajobs/rota/internal/mask"
)

// BenchmarkWriter masks 64 secrets in output as programs write it: lines of a log, base64, and what resembles the values.
func BenchmarkWriter(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	var s mask.Set
	var values []string
	for range 64 {
		text := make([]byte, 24)
		for i := range text {
			text[i] = byte(random.Uint32())
		}
		values = append(values, base64.StdEncoding.EncodeToString(text))
		s.Add(values[len(values)-1])
	}
	for name, line := range map[string]func(i int) string{
		"log": func(i int) string {
			return fmt.Sprintf("2026-01-02T03:04:05Z INFO copied file=/var/lib/app/%d.dat bytes=%d\n", i, random.Uint32())
		},
		"base64": func(int) string {
			return base64.StdEncoding.EncodeToString([]byte(fmt.Sprint(random.Uint64(), random.Uint64(), random.Uint64()))) + "\n"
		},
		"half values": func(i int) string { return values[i%64][:20] + values[(i+1)%64][12:] + "\n" },
	} {
		b.Run(name, func(b *testing.B) {
			var text strings.Builder
			for i := 0; text.Len() < 32<<10; i++ {
				text.WriteString(line(i))
			}
			chunk := []byte(text.String()[:32<<10])
			w := mask.NewWriter(io.Discard, &s)
			b.SetBytes(int64(len(chunk)))
			for b.Loop() {
				_, _ = w.Write(chunk)
			}
		})
	}
}

// BenchmarkHostile masks a value of 64 KiB in texts that begin like it at every position.
func BenchmarkHostile(b *testing.B) {
	var s mask.Set
	s.Add(strings.Repeat("a", longValue))
	for name, text := range hostileTexts(256 << 10) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				_ = s.String(text)
			}
		})
	}
}

// BenchmarkAdd adds as many bytes of values as a template may have.
func BenchmarkAdd(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	values := make([]string, 4)
	for i := range values {
		text := make([]byte, longValue)
		for j := range text {
			text[j] = byte(random.Uint32())
		}
		values[i] = string(text)
	}
	b.ReportAllocs()
	for b.Loop() {
		var s mask.Set
		for _, v := range values {
			s.Add(v)
		}
		_ = s.String("text")
	}
}
