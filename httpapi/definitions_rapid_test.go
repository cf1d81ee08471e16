package httpapi_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/httpapi"
	"github.com/rotajobs/rota/internal/depth"
	"github.com/rotajobs/rota/store/sqlite"
)

// testSite is a server without a network, for a property test.
type testSite struct {
	*rapid.T
	store   *sqlite.Store
	handler http.Handler
}

func newSite(t *rapid.T, dir, name string) *testSite {
	store, err := sqlite.Open(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	handler, err := httpapi.New(httpapi.Config{Store: store, Token: token})
	if err != nil {
		t.Fatal(err)
	}
	return &testSite{t, store, handler}
}

// close checks the invariants of the store and closes it.
func (s *testSite) close() {
	for v, err := range s.store.Verify(context.Background()) {
		s.Errorf("the store violates an invariant: %+v %v", v, err)
	}
	if err := s.store.Close(); err != nil {
		s.Error(err)
	}
}

func (s *testSite) must(method, path string, body any) string {
	s.Helper()
	text := ""
	if body != nil {
		text = string(rota.EncodeSpec(body))
	}
	if raw, is := body.(string); is {
		text = raw
	}
	a := serveRequest(s.handler, method, "/api/v1/"+path, text)
	if a.Code >= 300 {
		s.Fatalf("%s %s %s: %d %s", method, path, text, a.Code, a.Body)
	}
	return a.Body.String()
}

// TestRandomDefinitionsExportEqualsImport declares random definitions one by one and imports them into
// another server. Export and reads must then be equal on both.
func TestRandomDefinitionsExportEqualsImport(t *testing.T) {
	root := t.TempDir()
	if checks := flag.Lookup("rapid.checks"); checks.Value.String() == checks.DefValue { // each check opens two files
		_ = checks.Value.Set(strconv.Itoa(depth.Of(5, 20, 300)))
		t.Cleanup(func() { _ = checks.Value.Set(checks.DefValue) })
	}
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp(root, "")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		here, there := newSite(t, dir, "here.db"), newSite(t, dir, "there.db")
		defer here.close()
		defer there.close()
		here.declareRandom()
		document := here.must("GET", "definitions?secrets=true", nil)
		there.must("PUT", "definitions", document)
		if copied := there.must("GET", "definitions?secrets=true", nil); copied != document {
			t.Fatalf("got  %s\nwant %s", copied, document)
		}
		for _, path := range []string{"types?limit=1000", "templates?limit=1000", "schedules?limit=1000", "limits"} {
			if a, b := here.dumpComparable(path), there.dumpComparable(path); a != b {
				t.Fatalf("%s differ:\n%s\n%s", path, a, b)
			}
		}
		before := here.dumpAll()
		here.must("PUT", "definitions", document)
		if after := here.dumpAll(); after != before {
			t.Fatalf("an import of its own export changed the store:\n%s\n%s", before, after)
		}
	})
}

// dumpAll returns everything that reads show, including versions and next fire times.
func (s *testSite) dumpAll() (text string) {
	for _, path := range []string{"types?limit=1000", "templates?limit=1000", "schedules?limit=1000", "limits", "audit?limit=1000"} {
		text += s.must("GET", path, nil)
	}
	return text
}

// dumpComparable returns what reads show, without the fields that belong to one server: creator,
// times, the reason why Rota disabled it, and the next fire time, which depends on the current time.
// For intervals it adds the phase of the next fire time.
func (s *testSite) dumpComparable(path string) string {
	var value any
	decoder := json.NewDecoder(strings.NewReader(s.must("GET", path, nil)))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		s.Fatal(err)
	}
	if page, is := value.(map[string]any); is {
		delete(page, "version") // version of the limits
		items, _ := page["items"].([]any)
		for _, item := range items {
			fields := item.(map[string]any)
			for _, own := range []string{"version", "created_at", "created_by", "updated_at", "reason", "last_fire_at"} {
				delete(fields, own)
			}
			next, _ := fields["next_fire_at"].(string)
			delete(fields, "next_fire_at")
			if every, is := fields["every"].(string); is && next != "" {
				at, _ := time.Parse(time.RFC3339Nano, next)
				step, _ := rota.ParseDuration(every)
				fields["beat"] = at.UnixMicro() % step.Microseconds()
			}
		}
	}
	return string(rota.EncodeSpec(value))
}

// declareRandom creates random definitions of every kind.
func (s *testSite) declareRandom() {
	types := drawNames(s.T, "types", 1, 4)
	for _, name := range types {
		s.must("PUT", "types/"+escape(name), s.fields(s.policy(), "description", text, "schema", schema))
		if rapid.Bool().Draw(s.T, "paused") {
			s.must("POST", "types/"+escape(name)+"/pause", nil)
		}
	}
	templates := drawNames(s.T, "templates", 1, 4)
	for _, name := range templates {
		body := s.fields(s.policy(), "description", text, "default_params", object, "priority", priority, "concurrency_key", text, "unique_for", duration)
		body["name"], body["type"] = name, rapid.SampledFrom(types).Draw(s.T, "type")
		s.must("POST", "templates", body)
	}
	s.declareSchedules(templates)
	for _, name := range templates {
		if rapid.IntRange(0, 3).Draw(s.T, "archived") == 0 {
			s.must("POST", "templates/"+escape(name)+"/archive", nil)
		}
	}
	limits := map[string]any{}
	if rapid.Bool().Draw(s.T, "limited") {
		limits = map[string]any{
			"global": rapid.IntRange(0, 100).Draw(s.T, "global"),
			"types":  map[string]any{types[0]: map[string]any{"concurrency": rapid.IntRange(1, 9).Draw(s.T, "n"), "rate": "7/1m30s"}},
			"keys":   map[string]any{rapid.StringN(1, 20, 100).Filter(printable).Draw(s.T, "key"): 3},

			"each_key":         map[string]any{strings.ReplaceAll(rapid.StringN(0, 20, 100).Filter(printable).Draw(s.T, "prefix"), "*", "") + "*": 2},
			"each_key_of_type": map[string]any{types[0]: 4},
		}
	}
	s.must("PUT", "limits", limits)
}

func (s *testSite) declareSchedules(templates []string) {
	names := drawNames(s.T, "schedules", 0, 6)
	for i, name := range names {
		body := s.fields(s.policy(), "description", text, "param_overrides", object, "priority", priority,
			"catch_up", word("none", "last", "all"), "overlap", word("allow", "skip", "cancel"),
			"state", word("ENABLED", "DISABLED", "PAUSED"), "scopes", scopes, "class", word("LOCAL_SAFE", "LEADER_ONLY", "QUORUM_REQUIRED"))
		if rapid.Bool().Draw(s.T, "spread") {
			body["partition"] = map[string]any{"strategy": "DYNAMIC", "expression": `shard.region == "eu"`}
		}
		body["name"], body["template"] = name, rapid.SampledFrom(templates).Draw(s.T, "template")
		if i > 0 {
			body["depends_on"] = rapid.SliceOfN(rapid.SampledFrom(names[:i]), 0, 3).Draw(s.T, "depends_on")
		}
		switch rapid.IntRange(0, 3).Draw(s.T, "when") {
		case 0:
			body["at"] = future(s.T, "at")
			body["on_completion"] = rapid.SampledFrom([]string{"preserve", "drop"}).Draw(s.T, "on_completion")
		case 1:
			body["every"] = rota.FormatDuration(time.Duration(rapid.IntRange(1, 1e8).Draw(s.T, "every")) * time.Millisecond)
		case 2:
			body["every"], body["starts_at"] = "36h", future(s.T, "starts_at")
		default:
			body["cron"] = rapid.SampledFrom([]string{"* * * * *", "@daily", "H H(1-4) * * *", "30 2 1,15 jan-mar mon", "0 */7 * * 1-5"}).Draw(s.T, "cron")
			body["timezone"] = rapid.SampledFrom([]string{"UTC", "Europe/Berlin", "America/St_Johns"}).Draw(s.T, "timezone")
		}
		if body["at"] == nil && rapid.Bool().Draw(s.T, "ends") {
			body["ends_at"] = "2199-01-01T00:00:00.000001Z"
		}
		s.must("POST", "schedules", body)
	}
}

func future(t *rapid.T, label string) string {
	seconds := rapid.Int64Range(0, 1e9).Draw(t, label)
	return time.Date(2090, 1, 1, 0, 0, 0, int(seconds%1000)*1000, time.UTC).Add(time.Duration(seconds) * time.Second).Format(time.RFC3339Nano)
}

// fields draws a random subset of fields, given as pairs of a name and its generator.
func (s *testSite) fields(body map[string]any, parts ...any) map[string]any {
	for i := 0; i < len(parts); i += 2 {
		if name := parts[i].(string); rapid.Bool().Draw(s.T, name+" is there") {
			body[name] = parts[i+1].(func(*rapid.T) any)(s.T)
		}
	}
	return body
}

func (s *testSite) policy() map[string]any {
	return s.fields(map[string]any{}, "max_retries", func(t *rapid.T) any { return rapid.IntRange(0, 1000).Draw(t, "retries") },
		"backoff", duration, "backoff_max", duration, "timeout", duration,
		"jitter", func(t *rapid.T) any { return rapid.Float64Range(0, 1).Draw(t, "jitter") })
}

var (
	text     = func(t *rapid.T) any { return rapid.StringN(0, 30, 200).Filter(printable).Draw(t, "text") }
	priority = func(t *rapid.T) any { return rapid.IntRange(rota.PriorityMin, rota.PriorityMax).Draw(t, "priority") }
	duration = func(t *rapid.T) any {
		return rota.FormatDuration(time.Duration(rapid.Int64Range(0, 1e12).Draw(t, "duration")) * time.Microsecond)
	}
	schema = func(t *rapid.T) any { // accepts every object
		return map[string]any{"type": "object", "title": text(t), "examples": []any{object(t)}}
	}
	object = func(t *rapid.T) any {
		object := map[string]any{}
		for range rapid.IntRange(0, 4).Draw(t, "fields") {
			object[rapid.StringN(0, 12, 60).Draw(t, "key")] = value(t, 3)
		}
		return object
	}
	scopes = func(t *rapid.T) any {
		all := []api.Scope{}
		for range rapid.IntRange(0, 4).Draw(t, "scopes") {
			all = append(all, api.Scope{Kind: word("user", "team")(t).(string), ID: rapid.StringN(1, 9, 40).Filter(printable).Draw(t, "id")})
		}
		return all
	}
)

func word(words ...string) func(*rapid.T) any {
	return func(t *rapid.T) any { return rapid.SampledFrom(words).Draw(t, "word") }
}

// printable reports whether a text is valid in a field that is not JSON.
func printable(text string) bool {
	return !slices.ContainsFunc([]rune(text), func(r rune) bool { return r == 0 })
}

func value(t *rapid.T, depth int) any {
	switch kind := rapid.IntRange(0, 7).Draw(t, "kind"); {
	case kind == 0:
		return nil
	case kind == 1:
		return rapid.Bool().Draw(t, "flag")
	case kind == 2:
		return json.Number(rapid.SampledFrom([]string{"0", "-0", "1.0", "1e3", "1E+300", "12345678901234567890123", "-0.10", "3.14159265358979323846"}).Draw(t, "number"))
	case kind == 3 || depth == 0:
		return rapid.StringN(0, 20, 100).Draw(t, "word")
	case kind == 4:
		return rapid.SampledFrom([]string{"true", "null", "~", "1", "1.5", "2026-01-01", "- a", "a: b", "# x", " x ", "x\ny\n", "\t", "yes", "0x1F", "<<", "=", "!", "\u2028"}).Draw(t, "special")
	case kind == 5:
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			list = append(list, value(t, depth-1))
		}
		return list
	}
	object := map[string]any{}
	for range rapid.IntRange(0, 3).Draw(t, "fields") {
		object[rapid.StringN(0, 8, 40).Draw(t, "key")] = value(t, depth-1)
	}
	return object
}

func drawNames(t *rapid.T, what string, low, high int) []string {
	return rapid.SliceOfNDistinct(rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9._:/@#-]{0,12}`), low, high, rapid.ID[string]).Draw(t, what)
}

func escape(name string) string {
	escaped := ""
	for _, b := range []byte(name) {
		escaped += fmt.Sprintf("%%%02x", b)
	}
	return escaped
}
