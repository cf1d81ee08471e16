// Package codec encodes and decodes batches of commands, and their results, in a canonical, versioned format.
// codec.go describes the format, results.go what results have in addition.
package codec

import (
	"reflect"
	"time"

	"github.com/rotajobs/rota"
)

// The encoding of a batch is one version byte, then a message in protobuf's
// wire format whose field numbers are the wire tags of the structs. It is
// canonical: a batch has exactly one encoding, and decoding and encoding again
// gives the same bytes, so encodings can be compared and hashed.
//
//	bool, int, Duration   varint; integers are zigzag, durations nanoseconds
//	float64               fixed64
//	string, bytes         bytes; nil bytes are absent, empty ones are not
//	ID, Token             16 bytes
//	Time                  zigzag varint, microseconds since 1970
//	struct                a message
//	pointer               like its element; present even if the element is zero
//	slice                 one field per element
//	Command               a message of one field, numbered by wireCommands
//
// Fields are in ascending order and zero values are omitted. Durations keep their
// nanoseconds because validation accepts them: encoding must not change the meaning
// of a batch.
const codecVersion = 1

// Limits of an encoded batch, in addition to those of its commands. They bound how
// much memory a few bytes can make a reader allocate. A caller splits a larger
// batch.
const (
	EncodedMax = 64 << 20          // bytes
	EntriesMax = 10 * rota.JobsMax // commands, jobs, items and strings in lists, all together
)

// wireCommands maps wire numbers to commands. A number is never reused.
var wireCommands = [...]reflect.Type{
	1:  reflect.TypeFor[rota.Enqueue](),
	2:  reflect.TypeFor[rota.Ready](),
	3:  reflect.TypeFor[rota.Claim](),
	4:  reflect.TypeFor[rota.Extend](),
	5:  reflect.TypeFor[rota.Note](),
	6:  reflect.TypeFor[rota.Finish](),
	7:  reflect.TypeFor[rota.Cancel](),
	8:  reflect.TypeFor[rota.Edit](),
	9:  reflect.TypeFor[rota.Move](),
	10: reflect.TypeFor[rota.Normalise](),
	11: reflect.TypeFor[rota.Reap](),
	12: reflect.TypeFor[rota.Recover](),
	13: reflect.TypeFor[rota.All](),
	14: reflect.TypeFor[rota.PutType](),
	15: reflect.TypeFor[rota.SwitchType](),
	16: reflect.TypeFor[rota.PutTemplate](),
	17: reflect.TypeFor[rota.Archive](),
	18: reflect.TypeFor[rota.Unarchive](),
	19: reflect.TypeFor[rota.PutThrottle](),
	20: reflect.TypeFor[rota.PutSchedule](),
	21: reflect.TypeFor[rota.SwitchSchedule](),
	22: reflect.TypeFor[rota.DeleteSchedule](),
	23: reflect.TypeFor[rota.Fire](),
	24: reflect.TypeFor[rota.Trigger](),
	25: reflect.TypeFor[rota.Backfill](),
	26: reflect.TypeFor[rota.EnqueueGroup](),
	27: reflect.TypeFor[rota.CancelGroup](),
	28: reflect.TypeFor[rota.Reserve](),
	29: reflect.TypeFor[rota.Direct](),
	30: reflect.TypeFor[rota.Release](),
	31: reflect.TypeFor[rota.Expire](),
	32: reflect.TypeFor[rota.Sweep](),
	33: reflect.TypeFor[rota.Prune](),
	34: reflect.TypeFor[rota.Redrive](),
	35: reflect.TypeFor[rota.Remember](),
	36: reflect.TypeFor[rota.PutWebhooks](),
	37: reflect.TypeFor[rota.Drop](),
	38: reflect.TypeFor[rota.PutPrincipal](),
	39: reflect.TypeFor[rota.DropPrincipal](),
	40: reflect.TypeFor[rota.GrantPrivileges](),
	41: reflect.TypeFor[rota.PutToken](),
	42: reflect.TypeFor[rota.RevokeToken](),
	43: reflect.TypeFor[rota.TouchTokens](),
	44: reflect.TypeFor[rota.RecordAccess](),
	45: reflect.TypeFor[rota.SetOwner](),
	46: reflect.TypeFor[rota.PutSecret](),
	47: reflect.TypeFor[rota.DeleteSecret](),
	48: reflect.TypeFor[rota.RewrapSecrets](),
	49: reflect.TypeFor[rota.PromoteSecretKey](),
}

// wireBatch is Batch with its field numbers.
type wireBatch struct {
	Now      time.Time      `wire:"1"`
	Commands []rota.Command `wire:"2"`
}

// AppendBatch appends the encoding of b to dst. It does not validate the commands:
// the store refuses an invalid command with a result of its own. AppendBatch
// returns Invalid for what it cannot encode: a nil or unknown command, an All
// inside an All, a time out of range, and more than EncodedMax or EntriesMax. Times
// are truncated to microseconds.
func AppendBatch(dst []byte, b rota.Batch) ([]byte, error) {
	e := encoder{buf: append(dst, codecVersion), start: len(dst), counter: counter{limits: batchLimits}}
	w := wireBatch(b)
	if err := e.message(batchPlan, reflect.ValueOf(&w).Elem()); err != nil {
		err.Act = "encode"
		return dst, err
	}
	return e.buf, nil
}

// DecodeBatch decodes the output of AppendBatch. It refuses every other input with
// Invalid and names the position. The batch shares no memory with data. DecodeBatch
// does not validate the commands.
func DecodeBatch(data []byte) (rota.Batch, error) {
	var w wireBatch
	if err := decodeBatch(data, &w); err != nil {
		err.Act = "decode"
		return rota.Batch{}, err
	}
	return rota.Batch(w), nil
}

func decodeBatch(data []byte, w *wireBatch) *rota.Error {
	switch {
	case len(data) == 0:
		return rota.Invalidf("version", "the input is empty")
	case len(data) > EncodedMax:
		return (&counter{limits: batchLimits}).tooLong(len(data))
	case data[0] != codecVersion:
		return rota.Invalidf("version", "is %d; this program reads %d", data[0], codecVersion)
	}
	d := decoder{data: data[1:], counter: counter{limits: batchLimits}}
	return d.message(batchPlan, reflect.ValueOf(w).Elem())
}
