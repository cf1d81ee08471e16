package codec

import (
	"math"
	"reflect"

	"github.com/rotajobs/rota"
)

// The encoding of results is one version byte, then a message in the format of batches, with
// one field per result. In addition to the kinds of batches it has:
//
//	uint8                 varint
//	Reply                 a message of one field, numbered by wireReplies; nil in a list is an empty message
//	error                 its text; present even if the text is empty
//
// A token is kept. Times are truncated to microseconds, and decoded in UTC. An empty list is
// decoded as nil. The cause of an Error becomes its text: the decoded Error has the same
// fields and the same text, and errors.As finds it, but not what its cause was.
const resultsVersion = 1

// Limits of encoded results. The reply to a batch may be longer than the batch, since a job in
// a reply has its defaults, and a claim is short.
const (
	ResultsMax = 256 << 20 // bytes

	// The decoder allocates at most memoryBase and memoryFactor bytes for each byte of the
	// input. A job takes about 1 KiB of memory, and 150 bytes of an encoding.
	memoryBase   = 16 << 20
	memoryFactor = 16
)

// wireResults is a list of results.
type wireResults struct {
	Results []rota.Result `wire:"1"`
}

var (
	resultsPlan = mustPlan(reflect.TypeFor[wireResults]())
	resultField = &resultsPlan.fields[0]
)

// AppendResults appends the encoding of results to dst. It returns Invalid for what it cannot
// encode: a nil pointer as a reply or in a list, a reply of another package, a time out of range,
// and more than ResultsMax.
func AppendResults(dst []byte, results []rota.Result) ([]byte, error) {
	e := encoder{buf: append(dst, resultsVersion), start: len(dst), counter: counter{limits: resultsLimits(math.MaxInt)}}
	w := wireResults{results}
	err := e.message(resultsPlan, reflect.ValueOf(&w).Elem())
	if err == nil {
		e.limits = resultsLimits(len(e.buf) - len(dst)) // only now is the length known
		err = e.allocate(0, 1)
	}
	if err != nil {
		err.Act = "encode"
		return dst, err
	}
	return e.buf, nil
}

// AppendResult appends the encoding of one result to dst, as AppendResults does after the
// version: the encodings of two lists differ if the lists do. It is for hashing and has no limit
// of size, because the store has made the reply already.
func AppendResult(dst []byte, r rota.Result) ([]byte, error) {
	e := encoder{buf: dst, start: len(dst), counter: counter{limits: unlimited}}
	if err := e.value(resultField, reflect.ValueOf(&r).Elem()); err != nil {
		err.Act = "encode"
		return dst, err
	}
	return e.buf, nil
}

// DecodeResults decodes the output of AppendResults. It refuses every other input with Invalid
// and names the position. The results share no memory with data.
func DecodeResults(data []byte) ([]rota.Result, error) {
	var w wireResults
	if err := decodeResults(data, &w); err != nil {
		err.Act = "decode"
		return nil, err
	}
	return w.Results, nil
}

func decodeResults(data []byte, w *wireResults) *rota.Error {
	limits := resultsLimits(len(data))
	switch {
	case len(data) == 0:
		return rota.Invalidf("version", "the input is empty")
	case len(data) > limits.bytes:
		return (&counter{limits: limits}).tooLong(len(data))
	case data[0] != resultsVersion:
		return rota.Invalidf("version", "is %d; this program reads %d", data[0], resultsVersion)
	}
	d := decoder{data: data[1:], counter: counter{limits: limits}}
	return d.message(resultsPlan, reflect.ValueOf(w).Elem())
}

// resultsLimits returns the limits of an encoding of n bytes.
func resultsLimits(n int) limits {
	l := unlimited
	l.what, l.bytes = "list of results", ResultsMax
	if n <= ResultsMax {
		l.memory = memoryBase + memoryFactor*n
	}
	return l
}

// cause is the text of an error that was decoded.
type cause string

// Error returns the text.
func (c cause) Error() string { return string(c) }
