package logstore

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/codec"
)

// Entry is what a process appends to the log.
type Entry struct {
	Batch rota.Batch

	Prune  *rota.AuditPrune // removes audit entries; without commands
	Shared []rota.Event     // events that the process has published itself; they change no row

	// Unchanged decides the commands again on the replica, after it has applied entries of others. If they
	// change nothing, the entry need not be appended, and the results are the answer. Nil: append in any case.
	Unchanged func(context.Context) (results []rota.Result, unchanged bool, err error)
}

// The encoding of an entry is that of its batch, or a marker and a message with these fields. No version of
// the batch codec begins with the marker.
const (
	entryMarker = 0xff

	fieldBatch  = 1
	fieldPrune  = 2
	fieldShared = 3
)

// AppendEntry appends the encoding of an entry to dst. How long a Finish has waited in this process until now
// is part of it.
func AppendEntry(dst []byte, e *Entry) ([]byte, error) {
	frozen := e.Batch
	frozen.Commands = withWaits(e.Batch.Commands, time.Now())
	if e.Prune == nil && len(e.Shared) == 0 {
		return codec.AppendBatch(dst, frozen)
	}
	batch, err := codec.AppendBatch(nil, frozen)
	if err != nil {
		return dst, err
	}
	dst = append(dst, entryMarker)
	dst = protowire.AppendBytes(protowire.AppendTag(dst, fieldBatch, protowire.BytesType), batch)
	if e.Prune != nil {
		prune, err := json.Marshal(e.Prune)
		if err != nil {
			return dst, err
		}
		dst = protowire.AppendBytes(protowire.AppendTag(dst, fieldPrune, protowire.BytesType), prune)
	}
	if len(e.Shared) > 0 {
		var events []byte
		for i := range e.Shared {
			if events, err = codec.AppendEvent(events, &e.Shared[i]); err != nil {
				return dst, err
			}
		}
		dst = protowire.AppendBytes(protowire.AppendTag(dst, fieldShared, protowire.BytesType), events)
	}
	return dst, nil
}

// DecodeEntry decodes an entry. It refuses one of a later version of the program.
func DecodeEntry(data []byte) (e Entry, err error) {
	if len(data) == 0 || data[0] != entryMarker {
		e.Batch, err = codec.DecodeBatch(data)
		return e, err
	}
	for data = data[1:]; len(data) > 0; {
		number, kind, n := protowire.ConsumeTag(data)
		if n < 0 || kind != protowire.BytesType {
			return e, errEntry("is cut off")
		}
		value, m := protowire.ConsumeBytes(data[n:])
		if m < 0 {
			return e, errEntry("is cut off")
		}
		data = data[n+m:]
		switch number {
		case fieldBatch:
			e.Batch, err = codec.DecodeBatch(value)
		case fieldPrune:
			err = decodePrune(value, &e)
		case fieldShared:
			e.Shared, err = codec.DecodeEvents(value)
		default:
			err = errEntry("has an unknown field; upgrade this program")
		}
		if err != nil {
			return e, err
		}
	}
	return e, nil
}

// decodePrune refuses fields that it does not know: the replicas of two programs would differ.
func decodePrune(value []byte, e *Entry) error {
	d := json.NewDecoder(bytes.NewReader(value))
	d.DisallowUnknownFields()
	if err := d.Decode(&e.Prune); err != nil {
		return errEntry("has a prune of the audit that cannot be read: " + err.Error() + "; upgrade this program")
	}
	return nil
}

func errEntry(what string) error {
	return rota.Errorf(rota.Internal, "decode", "the entry of the log %s", what)
}
