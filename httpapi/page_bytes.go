package httpapi

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

const (
	pageBytesMax = 16 << 20 // limit on the large fields of one page; the page ends there
	readRows     = 64       // possibly large rows read at a time
)

// readPage reads the rows of a page, and reports whether there are more. If size is set, rows may be
// large and are read in small batches, which bounds the memory of the request. read gets the last row
// read so far, nil at first.
func readPage[T any](c *call, limit int, size func(T) int, read func(last *T, n int) ([]T, error)) (rows []T, more bool, err error) {
	budget := c.pageBytes
	for {
		n, last := limit+1-len(rows), (*T)(nil) // one row more shows whether there is a next page
		if size != nil {
			n = min(n, readRows)
		}
		if len(rows) > 0 {
			last = &rows[len(rows)-1]
		}
		n = min(n, rota.PageMax)
		part, err := read(last, n)
		if err != nil {
			return nil, false, err
		}
		for _, row := range part {
			if len(rows) == limit || budget <= 0 {
				return rows, true, nil
			}
			rows = append(rows, row)
			if size != nil {
				budget -= size(row)
			}
		}
		if len(part) < n {
			return rows, false, nil
		}
	}
}

// newList converts the rows of a page, and adds the cursor of the next page if there are more.
func newList[T, V any](rows []T, more bool, show func(T) V, cursor func(T) api.Text) api.List[V] {
	list := api.List[V]{Items: make([]V, len(rows))}
	for i, row := range rows {
		list.Items[i] = show(row)
	}
	if more {
		list.NextCursor = cursor(rows[len(rows)-1])
	}
	return list
}

// jobSize is the size of the large fields of a job. The params of a started job are shown twice.
func jobSize(j *rota.Job) int {
	size := len(j.Params)
	if r := j.Run; r != nil {
		size += len(j.Params) + len(r.Result) + len(r.Progress) + len(r.Error)
	}
	return size
}
