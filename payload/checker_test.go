package payload_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/payload"
)

var _ rota.Checker = payload.NewChecker()

type mail struct {
	To   string           `json:"to" jsonschema:"format=email"`
	Wait payload.Duration `json:"wait,omitempty"`
}

func (mail) JobType() string { return "mail" }

type broken struct{ C chan int }

func (*broken) JobType() string { return "broken" }

func TestCheckerChecksAPayloadAgainstItsGoType(t *testing.T) {
	checker := payload.NewChecker()
	for range 2 { // the second pass uses the stored schema
		if err := checker.Check(mail{}, json.RawMessage(`{"to":"ada@example.com","wait":"90 SECONDS"}`)); err != nil {
			t.Error(err)
		}
		err := checker.Check(&mail{}, json.RawMessage(`{"to":"ada"}`))
		if rota.CodeOf(err) != rota.Invalid || !strings.HasPrefix(err.Error(), "params.to: is not an e-mail address") {
			t.Errorf("got %v", err)
		}
		schema, err := checker.Schema(mail{})
		want, _ := payload.Schema(mail{})
		if err != nil || string(schema) != string(want) {
			t.Errorf("got %s, %v", schema, err)
		}
		if _, err := checker.Schema(&broken{}); rota.CodeOf(err) != rota.Invalid {
			t.Errorf("got %v, want Invalid", err)
		}
		if err := checker.Check(&broken{}, json.RawMessage(`{}`)); rota.CodeOf(err) != rota.Invalid {
			t.Errorf("got %v, want Invalid", err)
		}
	}
}

func TestDurationIsTextInJSON(t *testing.T) {
	for in, want := range map[string]time.Duration{`"90s"`: 90 * time.Second, `"2 DAYS"`: 48 * time.Hour, `"0s"`: 0} {
		var d payload.Duration
		if err := json.Unmarshal([]byte(in), &d); err != nil || time.Duration(d) != want {
			t.Errorf("%s: got %v, %v", in, d, err)
		}
		out, err := json.Marshal(d)
		if err != nil || string(out) != `"`+rota.FormatDuration(want)+`"` {
			t.Errorf("%s: written as %s, %v", in, out, err)
		}
	}
	for _, bad := range []string{`"2x"`, `90`, `""`} {
		var d payload.Duration
		if err := json.Unmarshal([]byte(bad), &d); err == nil {
			t.Errorf("%s: read as %v", bad, d)
		}
	}
}

// The schema of a Go type is generated, and params are checked against it.
func ExampleSchema() {
	type Mail struct {
		To   []string `json:"to" jsonschema:"minItems=1"`
		Text string   `json:"text,omitempty" jsonschema:"maxLength=1000"`
	}
	schema, err := payload.Schema(Mail{})
	if err != nil {
		fmt.Println(err)
		return
	}
	compiled, err := payload.Compile(schema)
	if err != nil {
		fmt.Println(err)
		return
	}
	err = compiled.Check(json.RawMessage(`{"to": ["ada", 7], "txt": "hello"}`))
	var problems payload.Problems
	if errors.As(err, &problems) {
		for _, p := range problems {
			fmt.Println(p.Field, p.Reason)
		}
	}
	// Output:
	// params.to[1] is a number; it must be text
	// params.txt is not a field of this type; did you mean params.text?
}
