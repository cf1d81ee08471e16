package httpapi

import "github.com/rotajobs/rota"

const (
	pageBytesMax = 16 << 20 // of what is long in the rows of a page; one that is longer ends there
	partRows     = 64       // rows that may be long, read at a time
)

// readPage reads the rows of a page, and says whether there are more. Rows that
// may be long, which heft weighs, are read a few at a time, so that neither they
// nor the page take more memory than a request may have. Read gets the last row
// that was read, nil at first.
func readPage[T any](c *call, limit int, heft func(T) int, read func(last *T, n int) ([]T, error)) (rows []T, more bool, err error) {
	room := c.pageBytes
	for {
		n, last := limit+1-len(rows), (*T)(nil) // one more says whether there is one
		if heft != nil {
			n = min(n, partRows)
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
			if len(rows) == limit || room <= 0 {
				return rows, true, nil
			}
			rows = append(rows, row)
			if heft != nil {
				room -= heft(row)
			}
		}
		if len(part) < n {
			return rows, false, nil
		}
	}
}

// pageOf shows the rows of a page, with where the next one begins if there are
// more.
func pageOf[T, V any](rows []T, more bool, show func(T) V, cursor func(T) Text) List[V] {
	list := List[V]{Items: make([]V, len(rows))}
	for i, row := range rows {
		list.Items[i] = show(row)
	}
	if more {
		list.NextCursor = cursor(rows[len(rows)-1])
	}
	return list
}

// heftOf is how long a job is where it may be long. The params of one that
// started are shown twice.
func heftOf(j *rota.Job) int {
	heft := len(j.Params)
	if r := j.Run; r != nil {
		heft += len(j.Params) + len(r.Result) + len(r.Progress) + len(r.Error)
	}
	return heft
}
