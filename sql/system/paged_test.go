package system

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/rotajobs/rota"
)

// emptyView is a view that no test reads.
type emptyView struct{ rota.View }

// Small rows come first, so that the pages have grown when the large ones follow.
func TestPagesOfLargeRowsAreBoundedByBytes(t *testing.T) {
	all := make([]*rota.Template, 300)
	large := json.RawMessage(`"` + string(make([]byte, 1<<20)) + `"`)
	for i := range all {
		all[i] = &rota.Template{Name: fmt.Sprintf("t%03d", i)}
		if i >= 100 {
			all[i].Spec.Params = large
		}
	}
	q := &query{ctx: context.Background(), view: emptyView{}}
	read, most := 0, 0
	next := paged(q, readRequest{}, func(_ rota.View, limit int, last **rota.Template) ([]*rota.Template, error) {
		from := 0
		for last != nil && from < len(all) && all[from].Name <= (*last).Name {
			from++
		}
		page := all[from:min(len(all), from+limit)]
		most = max(most, len(page))
		return page, nil
	}, asRead[*rota.Template])
	for {
		rows, err := next()
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) == 0 {
			break
		}
		bytes := 0
		for _, r := range rows {
			if r.Name != all[read].Name {
				t.Fatalf("row %d is %s", read, r.Name)
			}
			read++
			bytes += documentBytes(r)
		}
		if len(rows) > 1 && bytes > pageBytes {
			t.Fatalf("a page of %d rows has %d bytes", len(rows), bytes)
		}
	}
	if read != len(all) || most > pageMaxFull {
		t.Errorf("%d of %d rows were read, at most %d at once", read, len(all), most)
	}
}

func TestBoundedMapForgetsRowsAboveItsBytes(t *testing.T) {
	var m boundedMap[int, *rota.Template]
	one := &rota.Template{Spec: rota.TemplateSpec{Params: make(json.RawMessage, 1<<20)}}
	for i := range 100 {
		m.put(i, one)
		if len(m.rows) > pageBytes>>20 || m.get(i) == nil {
			t.Fatalf("%d rows of 1 MiB are kept", len(m.rows))
		}
	}
	if m.small() {
		t.Error("a page of such rows counts as small")
	}
}
