package translate_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/query"
	"github.com/rotajobs/rota/sql/translate"
)

func translateText(t testing.TB, text string, params ...kind.Kind) *translate.Statement {
	t.Helper()
	q, err := query.Parse(text)
	must(t, err)
	s, err := translate.Translate(q, catalogue{}, params)
	if err != nil {
		t.Fatalf("%s\n\t%v", text, err)
	}
	return s
}

// Conditions that a table can evaluate itself reach the table.
func TestSimpleQueriesStayUnchanged(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT job_name, n FROM sys.jobs WHERE job_name = 'x' ORDER BY next_run LIMIT 20":         `SELECT "jobs"."job_name", "jobs"."n" FROM "sys"."jobs" WHERE "jobs"."job_name" = 'x' ORDER BY "jobs"."next_run" NULLS LAST LIMIT 20`,
		"SELECT * FROM empty ORDER BY a DESC":                                                      `SELECT "empty"."a", "empty"."b" FROM "sys"."empty" ORDER BY "empty"."a" DESC NULLS FIRST`,
		"SELECT e.a AS x FROM sys.empty e WHERE e.a BETWEEN $1 AND 5 ORDER BY x":                   `SELECT "e"."a" FROM "sys"."empty" AS "e" WHERE "e"."a" BETWEEN ?1 AND 5 ORDER BY "e"."a" NULLS LAST`,
		"SELECT n FROM jobs WHERE next_run > '2026-03-01' AND priority = '5' AND enabled = 'yes'":  `SELECT "jobs"."n" FROM "sys"."jobs" WHERE "jobs"."next_run" > '2026-03-01T00:00:00.000000Z' AND "jobs"."priority" = 5 AND "jobs"."enabled" = 1`,
		"SELECT n FROM jobs WHERE priority = $1 AND small::bigint = 3 AND n = 5::bigint":           `SELECT "jobs"."n" FROM "sys"."jobs" WHERE "jobs"."priority" = ?1 AND "jobs"."small" = 3 AND "jobs"."n" = 5`,
		"SELECT n FROM jobs WHERE next_run < now() + interval '1 hour'":                            `SELECT "jobs"."n" FROM "sys"."jobs" WHERE "jobs"."next_run" < rota_shift(now(), '0 0 3600000000', 1)`,
		"SELECT n FROM jobs WHERE job_uuid = 'F0000000-0000-0000-0000-00000000000A'":               `SELECT "jobs"."n" FROM "sys"."jobs" WHERE "jobs"."job_uuid" = 'f0000000-0000-0000-0000-00000000000a'`,
		"SELECT n FROM jobs WHERE state IN ('A', $1) AND job_name = ANY($2)":                       `SELECT "jobs"."n" FROM "sys"."jobs" WHERE "jobs"."state" IN ('A', ?1) AND "jobs"."job_name" IN (SELECT "value" FROM json_each(?2))`,
		"SELECT n FROM jobs WHERE state = ANY('{A,B}') OR n = ANY(ARRAY[1, 2])":                    `SELECT "jobs"."n" FROM "sys"."jobs" WHERE "jobs"."state" IN ('A', 'B') OR "jobs"."n" IN (1, 2)`,
		"SELECT j.n FROM jobs j JOIN runs r USING (job_uuid) WHERE title LIKE 'x%'":                `SELECT "j"."n" FROM "sys"."jobs" AS "j" JOIN "sys"."runs" AS "r" ON "j"."job_uuid" = "r"."job_uuid" WHERE "j"."title" LIKE 'x%'`,
		"SELECT count(*) FROM sys.jobs":                                                            `SELECT count(*) FROM "sys"."jobs"`,
		"SELECT state, count(*) FROM sys.runs GROUP BY state ORDER BY 2":                           `SELECT "runs"."state", count(*) FROM "sys"."runs" GROUP BY "runs"."state" ORDER BY 2 NULLS LAST`,
		"SELECT x.job_name FROM (SELECT * FROM sys.runs) x WHERE x.ms % 2 = 0 AND x.ms / 1000 > 2": ``,
		"WITH x AS (SELECT a FROM empty) SELECT x.a FROM x WHERE NOT EXISTS (SELECT 1 FROM x)":     `WITH "x"("a") AS (SELECT "empty"."a" AS "a" FROM "sys"."empty") SELECT "x_2"."a" FROM "x" AS "x_2" WHERE NOT EXISTS (SELECT 1 FROM "x" AS "x_3")`,
	} {
		s := translateText(t, text)
		if want != "" && s.Text != want {
			t.Errorf("%s\n\tgot  %s\n\twant %s", text, s.Text, want)
		}
	}
}

// The text specifies the order of NULLs, except for columns that are never NULL or have a sort key.
func TestTextSpecifiesNullOrder(t *testing.T) {
	for order, want := range map[string]string{
		"n":                         `"jobs"."n" NULLS LAST`,
		"n DESC":                    `"jobs"."n" DESC NULLS FIRST`,
		"n NULLS FIRST":             `"jobs"."n" NULLS FIRST`,
		"job_uuid":                  `"jobs"."job_uuid"`,
		"job_uuid DESC NULLS FIRST": `"jobs"."job_uuid" DESC`,
		"job_uuid || ''":            `"jobs"."job_uuid" || '' NULLS LAST`,
		"priority, job_uuid":        `"jobs"."rank", "jobs"."job_uuid"`,
		"priority DESC NULLS FIRST": `"jobs"."rank" DESC`,
		"priority DESC NULLS LAST":  `"jobs"."priority" DESC NULLS LAST`,
	} {
		got := translateIn(t, sortedCatalogue{}, "SELECT state FROM sys.jobs ORDER BY "+order).Text
		if _, got, _ := strings.Cut(got, " ORDER BY "); got != want {
			t.Errorf("%s: got %s, want %s", order, got, want)
		}
	}
	for text, want := range map[string]string{
		"SELECT DISTINCT priority FROM sys.jobs ORDER BY 1":                                     `1 NULLS LAST`,
		"SELECT priority, count(*) FROM sys.jobs GROUP BY 1 ORDER BY 1":                         `1 NULLS LAST`,
		"SELECT job_uuid FROM sys.jobs UNION SELECT NULL ORDER BY 1":                            `1 NULLS LAST`,
		"SELECT job_uuid FROM sys.jobs UNION SELECT job_uuid FROM sys.jobs ORDER BY 1":          `1`,
		"SELECT x.job_uuid FROM (SELECT job_uuid FROM sys.jobs) x ORDER BY 1":                   `1`,
		"SELECT 1 FROM sys.runs r LEFT JOIN sys.jobs j ON true ORDER BY j.job_uuid, j.priority": `"j"."job_uuid" NULLS LAST, "j"."priority" NULLS LAST`,
		"SELECT 1 FROM sys.jobs j RIGHT JOIN sys.runs r ON true ORDER BY job_uuid":              `"j"."job_uuid" NULLS LAST`,
		"SELECT 1 FROM sys.jobs j FULL JOIN sys.runs r ON true ORDER BY job_uuid":               `"j"."job_uuid" NULLS LAST`,
		"SELECT 1 FROM sys.jobs j JOIN sys.runs r ON true ORDER BY priority":                    `"j"."rank"`,
	} {
		got := translateIn(t, sortedCatalogue{}, text).Text
		if _, got, _ := strings.Cut(got, " ORDER BY "); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// sortedCatalogue has a table with a column that is never NULL, and one with a sort key.
type sortedCatalogue struct{ catalogue }

func (c sortedCatalogue) Table(schema, name string) (*translate.Table, bool) {
	if name == "runs" {
		return &translate.Table{Schema: "sys", Name: "runs", Columns: []translate.Column{{Name: "ms", Kind: kind.Int4}}}, true
	}
	return &translate.Table{Schema: "sys", Name: "jobs", Columns: []translate.Column{
		{Name: "job_uuid", Kind: kind.Text, NotNull: true},
		{Name: "priority", Kind: kind.Integer, SortKey: "rank"},
		{Name: "state", Kind: kind.Text},
		{Name: "n", Kind: kind.Int4},
	}}, true
}

// Known parameter kinds stay, and parameters without any context are text.
func TestParameterKinds(t *testing.T) {
	for _, test := range []struct {
		text  string
		given []kind.Kind
		want  string
	}{
		{"SELECT $1", nil, "[text]"},
		{"SELECT $2::int", nil, "[text integer]"},
		{"SELECT 1 WHERE $1 IS NULL OR 5 = $1", nil, "[integer]"},
		{"SELECT n FROM jobs WHERE next_run > $1 AND n = $2 LIMIT $3", nil, "[timestamptz integer bigint]"},
		{"SELECT n FROM jobs WHERE n = $1", []kind.Kind{kind.Integer}, "[bigint]"},
		{"SELECT n FROM jobs WHERE next_run > $1", []kind.Kind{kind.Date}, "[date]"},
		{"SELECT n FROM jobs WHERE tags @> $1 AND took < $2", nil, "[text[] interval]"},
		{"SELECT 1 UNION SELECT $1", nil, "[integer]"},
		{"SELECT coalesce($1, 1.5), $2 || 'x', $3 AND true, left($4, $5)", nil, "[numeric text boolean text integer]"},
	} {
		s := translateText(t, test.text, test.given...)
		if got := fmt.Sprint(s.Params); got != test.want {
			t.Errorf("%s: %s, want %s", test.text, got, test.want)
		}
	}
}

// The texts call only functions of this package that exist.
func TestTranslatedFunctionsExist(t *testing.T) {
	known := map[string]bool{}
	for _, f := range translate.Functions {
		known[f.Name] = true
	}
	files, err := os.ReadDir(".")
	must(t, err)
	word := regexp.MustCompile(`["( ](rota_[a-z0-9_]+)`)
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		text, err := os.ReadFile(f.Name())
		must(t, err)
		for _, m := range word.FindAllStringSubmatch(string(text), -1) {
			if !known[m[1]] && !strings.HasPrefix(m[1], "rota_reg") && !strings.HasSuffix(m[1], "_") {
				t.Errorf("%s: there is no %s", f.Name(), m[1])
			}
		}
	}
}

// No argument makes a function panic.
func TestFunctionsDoNotPanic(t *testing.T) {
	odd := []any{nil, int64(0), int64(-1), int64(1) << 62, 1.5, -1e300, "", "x", "[1,[2],{}]", `{"a":[1,null]}`, "2026-03-01T00:00:00.000000Z", "1 2 3", "%", "text", "timestamptz", []byte{0, 255}}
	for _, f := range translate.Functions {
		n := f.Args
		if n < 0 {
			n = 3
		}
		for i := range len(odd) * len(odd) * len(odd) {
			args := make([]any, n)
			for k := range args {
				args[k] = odd[(i/(1+k*k)+i*k)%len(odd)]
			}
			func() {
				defer func() {
					if r := recover(); r != nil {
						t.Fatalf("%s(%v): %v", f.Name, args, r)
					}
				}()
				_, _ = f.Call(args)
			}()
		}
	}
}

// Many conditions do not nest deeply, and a query that becomes too long is rejected.
func TestQueryLimits(t *testing.T) {
	d := openTestDB(t)
	var b strings.Builder
	b.WriteString("SELECT job_name FROM sys.jobs WHERE n = 0")
	for i := range 900 {
		fmt.Fprintf(&b, " OR n = %d", i+10)
	}
	_, rows, err := d.query(b.String(), nil)
	if err != nil || len(rows) != 1 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
	wide := "SELECT " + strings.Repeat("*, ", 300) + "1 FROM sys.jobs"
	if _, _, err := d.query(wide, nil); err == nil || !strings.Contains(err.Error(), "2000 columns") {
		t.Error(err)
	}
}
