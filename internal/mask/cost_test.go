package mask_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/rotajobs/rota/internal/mask"
)

const longValue = 64 << 10

// hostileTexts resemble the encodings of values of one repeated byte at every position.
func hostileTexts(size int) map[string]string {
	texts := map[string]string{
		"plain": "a", "hex": hex.EncodeToString([]byte("a")), "base64": base64.StdEncoding.EncodeToString([]byte("aaa")), "URL": "%61", "JSON": `\u0061`, "HTML": "&#97;",
		"backslashes": `\`, "line breaks": "Y\nW\nF\nh\n", "almost": strings.Repeat("a", 63) + "b",
	}
	for name, text := range texts {
		texts[name] = strings.Repeat(text, size/len(text))
	}
	return texts
}

// TestCostIsLinear counts the comparisons for texts that begin like a value at every position.
func TestCostIsLinear(t *testing.T) {
	for _, values := range [][]string{{strings.Repeat("a", longValue)}, prefixes()} {
		for name, text := range hostileTexts(32 << 10) {
			t.Run(fmt.Sprintf("%d values, %s", len(values), name), func(t *testing.T) {
				var s mask.Set
				for _, v := range values {
					s.Add(v)
				}
				w := mask.NewWriter(io.Discard, &s)
				for chunk := range slices.Chunk([]byte(text), 4<<10) {
					_, _ = w.Write(chunk)
				}
				_ = w.Close()
				if perByte := float64(s.Steps()) / float64(len(text)); perByte > 100 {
					t.Errorf("%.0f comparisons for each byte", perByte)
				}
			})
		}
	}
}

// prefixes are values that begin alike.
func prefixes() (all []string) {
	for n := range 100 {
		all = append(all, strings.Repeat("a", 4+n))
	}
	return all
}

// TestMemoryIsBounded adds as many bytes of values as a template may have.
func TestMemoryIsBounded(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var s mask.Set
	for range 4 {
		value := make([]byte, longValue)
		for i := range value {
			value[i] = byte(random.Uint32())
		}
		s.Add(string(value))
	}
	if count, size := s.Size(); count > 150_000 || size > 9<<20 {
		t.Errorf("%d patterns of %d bytes", count, size)
	}
}

// TestLongValueIsMaskedWholly prints a long value in every spelling, as a whole and in chunks.
func TestLongValueIsMaskedWholly(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	letters := []rune("abcdefghijklmnopqrstuvwxyz0123456789+/&<>\"'\\ é€😀")
	value := make([]rune, 5000)
	for i := range value {
		value[i] = letters[random.IntN(len(letters))]
	}
	var s mask.Set
	s.Add(string(value))
	for _, name := range slices.Sorted(maps.Keys(spellings)) {
		text := "before|" + spellings[name](string(value)) + "|after"
		var out bytes.Buffer
		w := mask.NewWriter(&out, &s)
		for chunk := range slices.Chunk([]byte(text), 1+random.IntN(100)) {
			_, _ = w.Write(chunk)
		}
		_ = w.Close()
		if whole := s.String(text); whole != out.String() || len(whole) > 60 || strings.Count(whole, mask.Text) != 1 {
			t.Errorf("%s: %d bytes, %q", name, len(whole), whole[:min(len(whole), 200)])
		}
	}
}
