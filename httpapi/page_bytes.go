package httpapi

import "github.com/rotajobs/rota"

const (
	pageBytesMax = 16 << 20 // of what is long in the rows of a page; one that is longer ends there
	readRows     = 64       // rows that may be long, read at a time
)

// readPage reads the rows of a page, and says whether there are more. Rows that
// may be long, which heft weighs, are read a few at a time, so that neither they
// nor the page take more memory than a request may have. Read gets the last row
// that was read, nil at first.
func readPage[T any](c *call, limit int, size func(T) int, read func(last *T, n int) ([]T, error)) (rows []T, more bool, err error) {
	budget := c.pageBytes
	for {
		n, last := limit+1-len(rows), (*T)(nil) // one more says whether there is one
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

// newList shows the rows of a page, with where the next one begins if there are
// more.
func newList[T, V any](rows []T, more bool, show func(T) V, cursor func(T) Text) List[V] {
	list := List[V]{Items: make([]V, len(rows))}
	for i, row := range rows {
		list.Items[i] = show(row)
	}
	if more {
		list.NextCursor = cursor(rows[len(rows)-1])
	}
	return list
}

// jobSize is how long a job is where it may be long. The params of one that
// started are shown twice.
func jobSize(j *rota.Job) int {
	size := len(j.Params)
	if r := j.Run; r != nil {
		size += len(j.Params) + len(r.Result) + len(r.Progress) + len(r.Error)
	}
	return size
}
