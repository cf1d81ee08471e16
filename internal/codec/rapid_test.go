package codec

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"pgregory.net/rapid"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/samples"
)

func TestCodecRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rota.Batch{Now: drawTime(t), Commands: drawCommands(t, wireCommands[1:])}
		data, err := AppendBatch(nil, b)
		if err != nil {
			t.Fatal(err)
		}
		back, err := DecodeBatch(data)
		if err != nil {
			t.Fatalf("decode %x: %v", data, err)
		}
		if !reflect.DeepEqual(back, b) {
			t.Fatalf("got %+v, want %+v", back, b)
		}
		again, err := AppendBatch(nil, back)
		if err != nil || !bytes.Equal(again, data) {
			t.Fatalf("encoded again to %x, %v; want %x", again, err, data)
		}
	})
}

// drawCommands fills a command of each type by reflection, so that the test covers new
// fields.
func drawCommands(t *rapid.T, types []reflect.Type) (commands []rota.Command) {
	for _, typ := range types {
		v := reflect.New(typ)
		drawFields(t, v.Elem())
		commands = append(commands, v.Interface().(rota.Command))
	}
	return commands
}

func drawFields(t *rapid.T, v reflect.Value) {
	for i := range v.NumField() {
		if v.Type().Field(i).Tag.Get("wire") != notEncoded && rapid.IntRange(0, 9).Draw(t, "set") > 0 {
			drawValue(t, v.Field(i))
		}
	}
}

func drawValue(t *rapid.T, v reflect.Value) {
	switch value := v.Addr().Interface().(type) {
	case *time.Time:
		*value = drawTime(t)
		return
	case *json.RawMessage:
		*value = rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "bytes")
		return
	case *[]rota.Command:
		*value = drawCommands(t, wireCommands[1:commands.all])
		return
	case *rota.Reply:
		*value = drawReply(t, rapid.SampledFrom(wireReplies[1:replies.all]).Draw(t, "reply"))
		return
	case *error:
		*value = cause(rapid.String().Draw(t, "cause"))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, "int"))
	case reflect.Uint8:
		v.SetUint(uint64(rapid.Uint8().Draw(t, "uint")))
	case reflect.Float64:
		v.SetFloat(rapid.Float64().Draw(t, "float"))
	case reflect.String:
		v.SetString(rapid.String().Draw(t, "string"))
	case reflect.Array:
		reflect.Copy(v, reflect.ValueOf(rapid.SliceOfN(rapid.Byte(), v.Len(), v.Len()).Draw(t, "array")))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		drawValue(t, v.Elem())
	case reflect.Struct:
		drawFields(t, v)
	case reflect.Slice:
		for n := range rapid.IntRange(1, 3).Draw(t, "length") {
			v.Grow(1)
			v.SetLen(n + 1)
			drawValue(t, v.Index(n))
		}
	default:
		t.Fatalf("cannot draw %s", v.Type())
	}
}

func drawTime(t *rapid.T) time.Time {
	last := time.Date(rota.YearMax, 12, 31, 23, 59, 59, 0, time.UTC).UnixMicro()
	return time.UnixMicro(rapid.Int64Range(time.Time{}.UnixMicro(), last).Draw(t, "time")).UTC()
}

func FuzzDecodeBatch(f *testing.F) {
	for _, c := range samples.Commands() {
		f.Add(mustEncode(f, rota.Batch{Now: samples.Time, Commands: []rota.Command{c}}))
	}
	f.Add(mustEncode(f, rota.Batch{Commands: samples.Commands()}))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := DecodeBatch(data)
		if err != nil {
			if rota.CodeOf(err) != rota.Invalid {
				t.Fatalf("refused with %v", err)
			}
			return
		}
		for _, c := range b.Commands {
			_ = rota.CheckCommand(c) // must not panic on anything that decodes
		}
		if again := mustEncode(t, b); !bytes.Equal(again, data) {
			t.Fatalf("%x decodes, but encodes to %x", data, again)
		}
	})
}

// thousandJobs returns a batch of 1,000 jobs with params of 200 bytes each.
func thousandJobs() rota.Batch {
	params := json.RawMessage(`{"text":"` + strings.Repeat("x", 189) + `"}`)
	c := &rota.Enqueue{Meta: samples.Meta(1)}
	for i := range 1000 {
		id := samples.ID(0)
		binary.BigEndian.PutUint16(id[14:], uint16(i))
		c.Jobs = append(c.Jobs, rota.NewJob{ID: id, Type: "mail.send", Params: params, Priority: new(i % 3), MaxRetries: new(5)})
	}
	return rota.Batch{Now: samples.Time, Commands: []rota.Command{c}}
}

func BenchmarkAppendBatch1000Jobs(b *testing.B) {
	batch := thousandJobs()
	buf := mustEncode(b, batch)
	b.SetBytes(int64(len(buf)))
	b.ReportAllocs()
	for b.Loop() {
		buf, _ = AppendBatch(buf[:0], batch)
	}
}

func BenchmarkDecodeBatch1000Jobs(b *testing.B) {
	data := mustEncode(b, thousandJobs())
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		mustDecode(b, data)
	}
}

// field and zigzag encode values that the decoder must refuse.
func field(number protowire.Number, raw uint64) string {
	tag := protowire.AppendTag(nil, number, protowire.VarintType)
	return string(protowire.AppendVarint(tag, raw))
}

func zigzag(n int64) uint64 { return protowire.EncodeZigZag(n) }
