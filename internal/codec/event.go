package codec

import (
	"reflect"

	"github.com/rotajobs/rota"
)

// wireEvents is a list of events.
type wireEvents struct {
	Events []rota.Event `wire:"1"`
}

var (
	eventsPlan = mustPlan(reflect.TypeFor[wireEvents]())
	eventField = &eventsPlan.fields[0]
)

// AppendEvent appends the encoding of an event to dst. Events that are encoded one after the other form a list for
// DecodeEvents. AppendEvent returns Invalid for an event that has a time out of range.
func AppendEvent(dst []byte, event *rota.Event) ([]byte, error) {
	e := encoder{buf: dst, start: len(dst), counter: counter{limits: batchLimits}}
	if err := e.value(eventField, reflect.ValueOf(event).Elem()); err != nil {
		err.Act = "encode"
		return dst, err
	}
	return e.buf, nil
}

// DecodeEvents decodes a list of events. The events share no memory with data. A newer program may add fields to an
// event: DecodeEvents refuses a list with such an event.
func DecodeEvents(data []byte) ([]rota.Event, error) {
	var w wireEvents
	d := decoder{data: data, counter: counter{limits: batchLimits}}
	if err := d.message(eventsPlan, reflect.ValueOf(&w).Elem()); err != nil {
		err.Act = "decode"
		return nil, err
	}
	return w.Events, nil
}
