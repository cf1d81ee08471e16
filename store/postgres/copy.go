package postgres

import (
	"encoding/binary"
	"io"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
)

// COPY is a fast path for many new jobs. The plain way inserts them with the other writes, from one
// array for each column. COPY costs a round trip of its own, and less for each job. It assumes
// nothing: the table checks its rows like those of an INSERT.
const (
	copyInto = `
COPY rota_jobs (`
	copyFrom = `)
FROM STDIN (FORMAT binary)`

	copyMin = 50 // jobs
)

func copySQL(used fieldsUsed) string { return copyInto + strings.Join(used.names(), ", ") + copyFrom }

// copyJobs sends jobs with COPY, after the statements that are pending.
func (t *tx) copyJobs(used fieldsUsed, jobs []*rota.Job) error {
	if err := t.read(); err != nil {
		return err
	}
	t.locks.holdsRows = true
	_, err := t.conn.CopyFrom(t.ctx, newCopyRows(used, jobs), t.dialect.qualify(copySQL(used)))
	return err
}

// The binary format of COPY: a signature, flags, the length of a header extension, then rows, then
// an end marker.
const (
	copySignature = "PGCOPY\n\xff\r\n\x00"
	copyHeader    = copySignature + "\x00\x00\x00\x00\x00\x00\x00\x00"
	copyEnd       = "\xff\xff"
)

// copyRows encodes jobs in that format while they are read, so that PostgreSQL inserts the first
// while the next are encoded.
type copyRows struct {
	columns []*storekit.Column[rota.Job]
	jobs    []*rota.Job // jobs still to be encoded
	rows    column      // buffer; a field is encoded like an array element
	ended   bool
}

func newCopyRows(used fieldsUsed, jobs []*rota.Job) io.Reader {
	c := &copyRows{jobs: jobs, rows: column{data: []byte(copyHeader)}}
	for i, of := range insertColumns {
		if used&(1<<i) != 0 {
			c.columns = append(c.columns, of)
		}
	}
	return c
}

func (c *copyRows) Read(buffer []byte) (int, error) {
	for len(c.rows.data) < len(buffer) && c.more() {
	}
	if len(c.rows.data) == 0 {
		return 0, io.EOF
	}
	n := copy(buffer, c.rows.data)
	c.rows.data = c.rows.data[:copy(c.rows.data, c.rows.data[n:])]
	return n, nil
}

// more encodes the next row or the end marker, and reports whether there was one.
func (c *copyRows) more() bool {
	if len(c.jobs) == 0 {
		if c.ended {
			return false
		}
		c.ended = true
		c.rows.data = append(c.rows.data, copyEnd...)
		return true
	}
	c.rows.data = binary.BigEndian.AppendUint16(c.rows.data, uint16(len(c.columns)))
	for _, of := range c.columns {
		of.Write(&c.rows, c.jobs[0])
	}
	c.jobs = c.jobs[1:]
	return true
}
