package postgres

import (
	"encoding/binary"
	"io"

	"github.com/rotajobs/rota"
)

// The binary form that COPY reads: a mark, flags and the length of what else
// there is to say, then rows, then a row of no fields.
const (
	copyMark = "PGCOPY\n\xff\r\n\x00"
	copyHead = copyMark + "\x00\x00\x00\x00\x00\x00\x00\x00"
	copyEnd  = "\xff\xff"
)

// copyRows is jobs in that form. They are written as they are read: PostgreSQL
// takes in the first while the next are put together.
type copyRows struct {
	puts  []func(c *column, j *rota.Job)
	jobs  []*rota.Job // those that are left
	rows  column      // a field of a row is written as an element of an array is
	ended bool
}

func newCopyRows(used fieldsUsed, jobs []*rota.Job) io.Reader {
	c := &copyRows{jobs: jobs, rows: column{data: []byte(copyHead)}}
	for i, of := range insertColumns {
		if used&(1<<i) != 0 {
			c.puts = append(c.puts, of.put)
		}
	}
	return c
}

func (c *copyRows) Read(into []byte) (int, error) {
	for len(c.rows.data) < len(into) && c.more() {
	}
	if len(c.rows.data) == 0 {
		return 0, io.EOF
	}
	n := copy(into, c.rows.data)
	c.rows.data = c.rows.data[:copy(c.rows.data, c.rows.data[n:])]
	return n, nil
}

// more writes a row, or the end, and reports whether there was one.
func (c *copyRows) more() bool {
	if len(c.jobs) == 0 {
		if c.ended {
			return false
		}
		c.ended = true
		c.rows.data = append(c.rows.data, copyEnd...)
		return true
	}
	c.rows.data = binary.BigEndian.AppendUint16(c.rows.data, uint16(len(c.puts)))
	for _, put := range c.puts {
		put(&c.rows, c.jobs[0])
	}
	c.jobs = c.jobs[1:]
	return true
}
