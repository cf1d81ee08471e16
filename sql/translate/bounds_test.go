package translate_test

import (
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota/sql/translate"
)

// callFunction is the answer of one of the functions.
func callFunction(t *testing.T, name string, args ...any) (any, error) {
	t.Helper()
	for _, f := range translate.Functions {
		if f.Name == name && (f.Args == len(args) || f.Args < 0) {
			return f.Call(args)
		}
	}
	t.Fatalf("there is no %s of %d", name, len(args))
	return nil, nil
}

// A running function cannot be cancelled, so it must return soon or fail. The arguments are so
// large that an algorithm of quadratic cost exceeds the time limit.
func TestFunctionsAreBounded(t *testing.T) {
	const many = 50_000
	ones := func(n int) string { return "[" + strings.TrimSuffix(strings.Repeat("1,", n), ",") + "]" }
	twos := strings.ReplaceAll(ones(many), "1", "2")
	deep := strings.Repeat("[", 900) + ones(many) + strings.Repeat("]", 900)
	long := strings.Repeat("a", 1_000_000)
	for _, test := range []struct {
		name string
		args []any
	}{
		{"rota_array_contains", []any{ones(many) + " ", twos}},
		{"rota_array_overlap", []any{ones(many), twos}},
		{"rota_json_contains", []any{ones(many), twos}},
		{"rota_json_contains", []any{strings.TrimSuffix(ones(many/2), "]") + ",2]", twos}},
		{"rota_json_has", []any{twos, "x"}},
		{"rota_json_typeof", []any{deep}},
		{"rota_regex_replace", []any{long, "a(.*x)?", "b", "g"}},
		{"rota_trim", []any{strings.Repeat("ä", 500_000), strings.Repeat("ö", 500_000) + "ä", int64(3)}},
		{"rota_format", append([]any{strings.Repeat("%s", 100_000)}, long)},
		{"rota_series", []any{int64(1<<63 - 2), int64(1<<63 - 1), int64(1)}},
		{"rota_string_to_array", []any{long, "a"}},
	} {
		begin := cpuTime(t)
		_, err := callFunction(t, test.name, test.args...)
		if took := cpuTime(t) - begin; took > 5*time.Second { // of the processor: the machine may be busy
			t.Errorf("%s took %s (%v)", test.name, took, err)
		} else {
			t.Logf("%s %s %v", test.name, took, err)
		}
	}
}

// Each aggregate that keeps rows checks the memory for each row.
func TestAggregatesCheckMemory(t *testing.T) {
	for text, times := range map[string]int{
		"SELECT array_agg(n) FROM jobs":                                              1,
		"SELECT json_agg(1) FILTER (WHERE n = 1 OR n = 2) FROM jobs":                 1,
		"SELECT string_agg(job_name, ',') FROM jobs":                                 2,
		"SELECT stddev(n), percentile_disc(0.5) WITHIN GROUP (ORDER BY n) FROM jobs": 2,
		"SELECT sum(took), max(took), var_pop(n) FROM jobs":                          3,
		"SELECT ARRAY(SELECT n FROM jobs)":                                           1,
		"SELECT * FROM jobs j, LATERAL (SELECT j.n FROM runs) r":                     1,
		"SELECT count(*), max(n), sum(n), avg(n), bool_and(enabled) FROM jobs":       0,
	} {
		if got := strings.Count(translateText(t, text).Text, "rota_weigh("); got != times {
			t.Errorf("%s\n\tweighs %d times, want %d\n\t%s", text, got, times, translateText(t, text).Text)
		}
	}
}
