package httpapi

import (
	"bufio"
	"encoding/json"
	"net/http"

	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/sql/session"
)

// writeSQLAnswer writes the results of statements as an api.SQLAnswer, row by row: results are large, and their JSON is
// up to six times as large.
func writeSQLAnswer(w http.ResponseWriter, answers []*session.Answer) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	out := sqlWriter{bufio.NewWriterSize(w, 64<<10)}
	last := &session.Answer{}
	if n := len(answers); n > 0 {
		last = answers[n-1]
	}
	_ = out.WriteByte('{')
	out.result(last)
	if len(answers) > 1 {
		for i, a := range answers {
			_, _ = out.WriteString(map[bool]string{true: `,"results":[{`, false: `,{`}[i == 0])
			out.result(a)
			_ = out.WriteByte('}')
		}
		_ = out.WriteByte(']')
	}
	_, _ = out.WriteString("}\n")
	_ = out.Flush() // the client may have disconnected
}

// sqlWriter writes results. A bufio.Writer keeps its first error, and the writes after it do nothing.
type sqlWriter struct{ *bufio.Writer }

// result writes the fields of an api.SQLResult.
func (w sqlWriter) result(a *session.Answer) {
	w.field(`"columns":`, sqlColumns(a))
	_, _ = w.WriteString(`,"rows":[`)
	for i, row := range a.Rows {
		if i > 0 {
			_ = w.WriteByte(',')
		}
		_ = w.WriteByte('[')
		for j, value := range row {
			if j > 0 {
				_ = w.WriteByte(',')
			}
			_, _ = w.Write(sqlValue(value))
		}
		_ = w.WriteByte(']')
	}
	w.field(`],"tag":`, a.Tag)
	w.field(`,"notices":`, append([]string{}, a.Notices...))
}

// field writes a name and a value that can always be encoded.
func (w sqlWriter) field(name string, value any) {
	_, _ = w.WriteString(name)
	e := json.NewEncoder(trimLine{w.Writer})
	e.SetEscapeHTML(false)
	_ = e.Encode(value)
}

// trimLine drops the line break that json.Encoder adds.
type trimLine struct{ w *bufio.Writer }

// Write writes the text of one value.
func (t trimLine) Write(p []byte) (int, error) {
	_, err := t.w.Write(p[:len(p)-1])
	return len(p), err
}

func sqlColumns(a *session.Answer) []api.SQLColumn {
	columns := []api.SQLColumn{}
	for i, c := range a.Columns {
		kind := string(c.Kind)
		if kind == "" {
			kind = columnKind(a.Rows, i)
		}
		columns = append(columns, api.SQLColumn{Name: c.Name, Type: kind})
	}
	return columns
}
