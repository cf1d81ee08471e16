package httpapi

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"slices"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
)

func pageParams(others ...param) []param {
	return append(others,
		param{name: "limit", form: formInteger, doc: "Page size, 1 to 1,000; default 100.", example: 100, low: 1, high: rota.PageMax},
		param{name: "cursor", form: formText, doc: "The next_cursor of the previous page."},
	)
}

func (c *call) limit() int { return c.number("limit", 100) }

// position returns the position in the cursor of the request; nil: the start of the list.
func (c *call) position(kind cursorKind) ([]byte, error) {
	return readCursor(kind, c.query.Get("cursor"))
}

// rowList is a list of rows that a request reads in pages. A cursor holds the position of the last row of a page.
type rowList[T, V any] struct {
	kind     cursorKind
	read     func(after []byte, n int) ([]T, error) // rows after a position
	position func(T) []byte
	show     func(T) V
	size     func(T) int // size of the large fields; nil: the rows are small
}

// page responds with one page. If rows may be large, it reads them in small batches, which bounds the
// memory of the request.
func (l rowList[T, V]) page(c *call) (reply, error) {
	after, err := c.position(l.kind)
	if err != nil {
		return reply{}, err
	}
	limit, budget, page := c.limit(), c.pageBytes, api.List[V]{Items: []V{}}
	for {
		n := min(limit+1-len(page.Items), rota.PageMax) // one row more shows whether there is a next page
		if l.size != nil {
			n = min(n, readRows)
		}
		part, err := l.read(after, n)
		if err != nil {
			return reply{}, err
		}
		for _, row := range part {
			if len(page.Items) == limit || budget <= 0 {
				page.NextCursor = cursorOf(l.kind, after)
				return ok(page)
			}
			page.Items, after = append(page.Items, l.show(row)), l.position(row)
			if l.size != nil {
				budget -= l.size(row)
			}
		}
		if len(part) < n {
			return ok(page)
		}
	}
}

// namedList is a list of rows that are ordered by name.
func namedList[T, V any](
	c *call, kind cursorKind, read func(context.Context, rota.NameQuery) ([]T, error), show func(T) V, name func(T) string, size func(T) int,
) (reply, error) {
	return rowList[T, V]{
		kind: kind, show: show, size: size, position: func(row T) []byte { return []byte(name(row)) },
		read: func(after []byte, n int) ([]T, error) {
			return read(c.ctx, rota.NameQuery{After: string(after), Limit: n})
		},
	}.page(c)
}

// idList is a list of small rows, newest first.
func idList[T, V any](
	c *call, kind cursorKind, read func(ctx context.Context, before rota.ID, limit int) ([]T, error), show func(T) V, id func(T) rota.ID,
) (reply, error) {
	ids := c.idRange()
	return rowList[T, V]{
		kind: kind, show: show, position: func(row T) []byte { at := id(row); return at[:] },
		read: func(after []byte, n int) ([]T, error) {
			rows, err := read(c.ctx, ids.startAt(idAt(after)), n)
			return slices.DeleteFunc(rows, func(row T) bool { return !ids.contains(id(row)) }), err
		},
	}.page(c)
}

// cursorKind is the list that a cursor belongs to.
type cursorKind byte

const (
	cursorJobs         cursorKind = 'j'
	cursorQueue        cursorKind = 'q'
	cursorExecutions   cursorKind = 'e'
	cursorGroups       cursorKind = 'g'
	cursorReservations cursorKind = 'r'
	cursorDead         cursorKind = 'd'
	cursorTypes        cursorKind = 't'
	cursorTemplates    cursorKind = 'm'
	cursorSchedules    cursorKind = 's'
	cursorAudit        cursorKind = 'u'
	cursorUsers        cursorKind = 'U'
	cursorRoles        cursorKind = 'R'
	cursorGrants       cursorKind = 'G'
	cursorTokens       cursorKind = 'T'
	cursorSecrets      cursorKind = 'S'
)

// cursorBytes is the length of a position; names, which are missing here, have any length.
var cursorBytes = map[cursorKind]int{
	cursorJobs: 16, cursorExecutions: 16, cursorGroups: 16, cursorReservations: 16, cursorDead: 16,
	cursorQueue: 40, cursorAudit: 24,
}

// cursorOf encodes the position where a page ended. Its checksum detects a truncated or changed
// cursor.
func cursorOf(kind cursorKind, position []byte) api.Text {
	raw := append([]byte{byte(kind)}, position...)
	raw = binary.BigEndian.AppendUint32(raw, crc32.ChecksumIEEE(raw))
	return api.Text(base64.RawURLEncoding.EncodeToString(raw))
}

// readCursor decodes a cursor. An empty cursor is the start of the list.
func readCursor(kind cursorKind, text string) ([]byte, error) {
	if text == "" {
		return nil, nil
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || strings.ContainsAny(text, "\r\n") || len(raw) < 5 || binary.BigEndian.Uint32(raw[len(raw)-4:]) != crc32.ChecksumIEEE(raw[:len(raw)-4]) {
		return nil, problem.Malformed("cursor", "is not a cursor of this server; use next_cursor unchanged, or omit it to start from the first page")
	}
	if cursorKind(raw[0]) != kind {
		return nil, problem.Malformed("cursor", "belongs to another list; omit it to start from the first page")
	}
	position := raw[1 : len(raw)-4]
	if n, fixed := cursorBytes[kind]; fixed && len(position) != n {
		return nil, problem.Malformed("cursor", "is not a cursor of this server; omit it to start from the first page")
	}
	return position, nil
}

// idAt returns the id of a position; zero: the start of the list.
func idAt(position []byte) (id rota.ID) {
	copy(id[:], position)
	return id
}

const (
	pageBytesMax = 16 << 20 // limit on the large fields of one page; the page ends there
	readRows     = 64       // possibly large rows read at a time
)

// jobSize is the size of the large fields of a job. The params of a started job are shown twice.
func jobSize(j *rota.Job) int {
	size := len(j.Params)
	if r := j.Run; r != nil {
		size += len(j.Params) + len(r.Result) + len(r.Progress) + len(r.Error)
	}
	return size
}
