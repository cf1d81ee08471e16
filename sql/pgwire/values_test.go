package pgwire

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/translate"
)

// The expected texts are PostgreSQL's. The binary values are decoded by pgtype and compared with
// the decoded texts.
func TestValueEncodings(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		kind   kind.Kind
		held   any
		text   string
		binary string // hexadecimal
	}{
		{kind.Text, "a b", "a b", "612062"},
		{kind.Text, "", "", ""},
		{kind.Text, int64(7), "7", "37"},
		{kind.Text, 1.5, "1.5", "312e35"},
		{kind.Unknown, "x", "x", "78"},
		{kind.Name, "sys", "sys", "737973"},
		{kind.Char, "r", "r", "72"},
		{kind.Integer, int64(math.MinInt64), "-9223372036854775808", "8000000000000000"},
		{kind.Integer, "12", "12", "000000000000000c"},
		{kind.Integer, 12.0, "12", "000000000000000c"},
		{kind.Integer, true, "1", "0000000000000001"},
		{kind.Int4, int64(-1), "-1", "ffffffff"},
		{kind.Int2, int64(300), "300", "012c"},
		{kind.OID, int64(4294967295), "4294967295", "ffffffff"},
		{kind.Regclass, int64(1259), "1259", "000004eb"},
		{kind.Boolean, int64(1), "t", "01"},
		{kind.Boolean, false, "f", "00"},
		{kind.Boolean, "true", "t", "01"},
		{kind.Float, 0.1, "0.1", "3fb999999999999a"},
		{kind.Float, int64(2), "2", "4000000000000000"},
		{kind.Float, 1e15, "1e+15", "430c6bf526340000"},
		{kind.Float, 1e14, "100000000000000", "42d6bcc41e900000"},
		{kind.Float, 0.00001, "1e-05", "3ee4f8b588e368f1"},
		{kind.Float, 0.0001, "0.0001", "3f1a36e2eb1c432d"},
		{kind.Float, math.Inf(-1), "-Infinity", "fff0000000000000"},
		{kind.Float, math.NaN(), "NaN", "7ff8000000000001"},
		{kind.Float4, 1e6, "1e+06", "49742400"},
		{kind.Float4, 0.1, "0.1", "3dcccccd"},
		{kind.Numeric, int64(12345), "12345", "0002000100000000000109" + "29"},
		{kind.Numeric, 1794944640.376249, "1794944640.376249", ""},
		{kind.Numeric, 1234567890123456.5, "1234567890123456.5", ""},
		{kind.Numeric, 0.1 + 0.2 + 1e-17, "0.3", ""},
		{kind.Numeric, 0.5, "0.5", "0001ffff000000011388"},
		{kind.Numeric, "123456789012345678901234.5", "123456789012345678901234.5", ""},
		{kind.UUID, "0193a8e2-7d7b-7000-8000-00000000002a", "0193a8e2-7d7b-7000-8000-00000000002a", "0193a8e27d7b7000800000000000002a"},
		{kind.Bytea, []byte{0, 255}, `\x00ff`, "00ff"},
		{kind.Bytea, []byte{}, `\x`, ""},
		{kind.JSON, `{"a": 1}`, `{"a": 1}`, "017b2261223a20317d"},
		{kind.PlainJSON, `[1]`, `[1]`, "5b315d"},
		{kind.Inet, "127.0.0.1", "127.0.0.1", "022000047f000001"},
		{kind.Void, "", "", ""},

		{kind.Timestamp, "2026-11-15T10:00:00.123400Z", "2026-11-15 11:00:00.1234+01", "0003034c7e37ea08"},
		{kind.Timestamp, "2026-07-01T00:00:00.000000Z", "2026-07-01 02:00:00+02", "0002f880242f4000"},
		{kind.Timestamp, "2000-01-01T00:00:00Z", "2000-01-01 01:00:00+01", "0000000000000000"},
		{kind.Timestamp, "infinity", "infinity", "7fffffffffffffff"},
		{kind.Local, "2026-11-15T10:00:00.000001", "2026-11-15 10:00:00.000001", "0003034c7e360801"},
		{kind.Date, "2000-01-02", "2000-01-02", "00000001"},
		{kind.Date, "1999-12-31", "1999-12-31", "ffffffff"},
		{kind.Date, "-infinity", "-infinity", "80000000"},
		{kind.Time, "01:02:03.500000", "01:02:03.5", "00000000ddf019e0"},
		{kind.Interval, "0 0 0", "00:00:00", "00000000000000000000000000000000"},
		{kind.Interval, "14 3 14706789000", "1 year 2 mons 3 days 04:05:06.789", ""},
		{kind.Interval, "-1 1 -1000000", "-1 mons +1 day -00:00:01", ""},
		{kind.Interval, "-13 0 1", "-1 years -1 mons +00:00:00.000001", ""},
		{kind.Interval, "1 1 3600000000", "1 mon 1 day 01:00:00", "00000000d693a4000000000100000001"},

		{kind.Text.Array(), `["a","b c",null,"NULL","x\"y\\z","","{"]`, `{a,"b c",NULL,"NULL","x\"y\\z","","{"}`, ""},
		{kind.Text.Array(), `[]`, `{}`, "000000000000000000000019"},
		{kind.Int4.Array(), `[1,null]`, `{1,NULL}`, "0000000100000001000000170000000200000001" + "0000000400000001" + "ffffffff"},
		{kind.Int4.Array(), `[[1,2],[3,4]]`, `{{1,2},{3,4}}`, "00000002000000000000001700000002000000010000000200000001" + "00000004000000010000000400000002" + "00000004000000030000000400000004"},
		{kind.Boolean.Array(), `[true,0]`, `{t,f}`, ""},
		{kind.JSON.Array(), `[{"a":[1,2]}]`, `{"{\"a\":[1,2]}"}`, ""},
		{kind.JSON.Array(), `["a",1,null,[1]]`, `{"\"a\"",1,NULL,[1]}`, ""},
		{kind.Timestamp.Array(), `["2026-07-01T00:00:00.000000Z"]`, `{"2026-07-01 02:00:00+02"}`, ""},
		{kind.AnyArray, `["a"]`, `{a}`, ""},
		{kind.Int2s, `[1,2,3]`, "1 2 3", "0000000100000000000000150000000300000000" + "000000020001000000020002000000020003"},
		{kind.OIDs, `[]`, "", ""},
		{kind.Record, `{"z":1,"a":"x y","n":null,"q":"a\"b","t":true}`, `(1,"x y",,"a""b",t)`, "-"},
	} {
		t.Run(fmt.Sprintf("%s %v", test.kind, test.held), func(t *testing.T) {
			v := &formatSettings{zone: berlin, zoneName: "Europe/Berlin"}
			text, err := coderOf(test.kind).text([]byte{}, test.held, v)
			if err != nil || string(text) != test.text {
				t.Errorf("text: got %q, %v; want %q", text, err, test.text)
			}
			raw, err := coderOf(test.kind).binary([]byte{}, test.held, v)
			if test.binary == "-" {
				if stateOf(err) != stateNotSupported {
					t.Errorf("binary: got %x, %v", raw, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := hex.EncodeToString(raw); test.binary != "" && got != test.binary {
				t.Errorf("binary: got %s, want %s", got, test.binary)
			}
			readBack(t, test.kind, raw, text)
		})
	}
}

// readBack reads bytes by pgtype and has it write the text.
func readBack(t *testing.T, k kind.Kind, raw, text []byte) {
	t.Helper()
	switch k {
	case kind.Record, kind.Void, kind.AnyArray, kind.Int2s, kind.OIDs, kind.Timestamp, kind.Timestamp.Array(), kind.Unknown, kind.Regclass, kind.Char, kind.Name:
		return // pgtype does not know it, or writes it in another zone
	}
	m := pgtype.NewMap()
	known, is := m.TypeForOID(oidOf(k))
	if !is {
		t.Fatalf("pgtype does not know %s", k)
	}
	value, err := known.Codec.DecodeValue(m, oidOf(k), pgtype.BinaryFormatCode, raw)
	if err != nil {
		t.Fatalf("%x cannot be read: %v", raw, err)
	}
	expected, err := known.Codec.DecodeValue(m, oidOf(k), pgtype.TextFormatCode, text)
	if err != nil {
		t.Fatalf("%q cannot be read: %v", text, err)
	}
	if got, want := fmt.Sprint(value), fmt.Sprint(expected); got != want {
		t.Errorf("binary decodes to %s and text to %s", got, want)
	}
}

func TestUnfitValuesAreRejected(t *testing.T) {
	for _, test := range []struct {
		kind kind.Kind
		held any
		code string
	}{
		{kind.Integer, "apple", "22000"},
		{kind.Integer, 1.5, "22000"},
		{kind.Integer, 1e300, "22000"},
		{kind.Integer, []byte("1"), "22000"},
		{kind.Int4, int64(1 << 31), "22003"},
		{kind.Int2, int64(-40000), "22003"},
		{kind.Float, "x", "22000"},
		{kind.Boolean, "perhaps", "22000"},
		{kind.Timestamp, int64(5), "22000"},
		{kind.Timestamp, "soon", "22000"},
		{kind.Interval, "soon", "22000"},
		{kind.Text.Array(), "a,b", "22000"},
		{kind.Date, "soon", "22000"},
		{kind.Text, struct{}{}, "22000"},
	} {
		for _, format := range []int16{0, 1} {
			c := &column{name: "c", kind: test.kind, settings: &formatSettings{}, encode: coderOf(test.kind).text}
			if format == 1 {
				c.encode = coderOf(test.kind).binary
			}
			if _, err := c.append(nil, test.held); stateOf(err) != test.code || !strings.Contains(fmt.Sprint(err), `column "c"`) {
				t.Errorf("%s %v in format %d: %v", test.kind, test.held, format, err)
			}
		}
	}
	for _, k := range []kind.Kind{kind.UUID, kind.Inet, kind.OID, kind.Numeric, kind.Record} {
		if _, err := coderOf(k).binary(nil, "apple", &formatSettings{}); err == nil {
			t.Errorf("apple was encoded as %s", k)
		}
	}
	if _, err := coderOf(kind.Int4.Array()).binary(nil, `["x"]`, &formatSettings{}); stateOf(err) != stateData {
		t.Errorf("x was encoded as an integer: %v", err)
	}
}

func TestEveryKindHasCoder(t *testing.T) {
	for oid := uint32(1); oid < 5000; oid++ {
		k, known := kind.OfOID(oid)
		if !known {
			continue
		}
		if _, known := coders[k]; !known {
			t.Errorf("%s has no coder", k)
		}
		if oidOf(k) != oid && k != kind.Unknown {
			t.Errorf("%s has OID %d and is described as %d", k, oid, oidOf(k))
		}
	}
}

// A value that is encoded in an answer and sent back as an argument is the same value.
func TestArgumentsRoundTrip(t *testing.T) {
	for _, test := range []struct {
		kind kind.Kind
		held any
	}{
		{kind.Text, "ä"},
		{kind.Integer, int64(-5)},
		{kind.Int4, int64(5)},
		{kind.Int2, int64(-5)},
		{kind.Float, 0.25},
		{kind.Float4, float64(float32(0.1))},
		{kind.Numeric, int64(-1234567)},
		{kind.Numeric, 0.125},
		{kind.Boolean, true},
		{kind.UUID, "0193a8e2-7d7b-7000-8000-00000000002a"},
		{kind.JSON, `{"a":1}`},
		{kind.PlainJSON, `[]`},
		{kind.Bytea, []byte{1, 2}},
		{kind.Timestamp, "2026-11-15T10:00:00.123456Z"},
		{kind.Timestamp, "-infinity"},
		{kind.Timestamp, "0001-01-01T00:00:00.000000Z"},
		{kind.Local, "1969-12-31T23:59:59.999999"},
		{kind.Date, "1969-12-31"},
		{kind.Date, "infinity"},
		{kind.Time, "23:59:59.999999"},
		{kind.Interval, "-3 4 -5"},
		{kind.OID, int64(4000000000)},
		{kind.Text.Array(), `["a","",null,"b c"]`},
		{kind.Int4.Array(), `[1,2]`},
		{kind.Timestamp.Array(), `["infinity",null]`},
		{kind.Inet, "::1/64"},
		{kind.Inet, "::1"},
		{kind.Inet, "10.0.0.1"},
		{kind.Int2s, `[1,2]`},
		{kind.OIDs, `[]`},
		{kind.Timestamp.Array(), `["2026-11-15T10:00:00.123456Z"]`},
	} {
		v := &formatSettings{zone: time.UTC}
		for format, encode := range []encoder{coderOf(test.kind).text, coderOf(test.kind).binary} {
			raw, err := encode([]byte{}, test.held, v)
			if err != nil {
				t.Errorf("%s %v: %v", test.kind, test.held, err)
				continue
			}
			got, err := argument(1, test.kind, int16(format), raw)
			if text, is := got.(string); is && err == nil {
				got, err = translate.ParseValue(test.kind, text)
			}
			if err != nil || !equalValues(got, test.held) {
				t.Errorf("%s %v in format %d was decoded as %v, %v", test.kind, test.held, format, got, err)
			}
		}
	}
}

// equalValues compares values as they are held: a truth is a number there.
func equalValues(got, held any) bool {
	if held == true {
		held = int64(1)
	}
	return got == true && held == int64(1) || fmt.Sprint(got) == fmt.Sprint(held)
}

func TestInvalidArgumentsAreRejected(t *testing.T) {
	for _, test := range []struct {
		kind   kind.Kind
		format int16
		raw    string
		code   string
	}{
		{kind.Text, 0, "\xff", "22021"},
		{kind.Text, 1, "a\x00b", "22021"},
		{kind.Bytea, 0, `\xzz`, "22P02"},
		{kind.Bytea, 0, `a\9`, "22P02"},
		{kind.Int4, 1, "123", "22P03"},
		{kind.UUID, 1, "123", "22P03"},
		{kind.JSON, 1, "", "22P03"},
		{kind.JSON, 1, "\x02{}", "22P03"},
		{kind.Numeric, 1, "\x00\x01", "22P03"},
		{kind.Inet, 1, "12345678", "22P03"},
		{kind.Time, 1, "\xff\xff\xff\xff\xff\xff\xff\xff", "22007"},
		{kind.Timestamp, 1, "\x70\x00\x00\x00\x00\x00\x00\x00", "22008"},
		{kind.Int4.Array(), 1, "", "22P03"},
		{kind.Int4.Array(), 1, "\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x17", "22P03"},
		{kind.Int4.Array(), 1, "\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x17\x7f\xff\xff\xff\x00\x00\x00\x01", "22P03"},
		{kind.Record, 1, "", "0A000"},
	} {
		value, err := argument(3, test.kind, test.format, []byte(test.raw))
		if text, is := value.(string); is { // the console parses it
			var refused *translate.Error
			if _, err := translate.ParseValue(test.kind, text); !errors.As(err, &refused) || refused.State != test.code {
				t.Errorf("%s %q is %q: %v, want %s", test.kind, test.raw, text, err, test.code)
			}
			continue
		}
		if stateOf(err) != test.code || !strings.Contains(fmt.Sprint(err), "$3") {
			t.Errorf("%s %q: %v, want %s", test.kind, test.raw, err, test.code)
		}
	}
}
