package rota

import (
	"crypto/sha256"
	"encoding/binary"
)

// JobID is the id of the i-th job of the command. Derived ones sort by their
// place in it, so that neighbours in the queue lie on one page: claims and
// finishes of a batch then write half the pages.
func (c *Enqueue) JobID(i int) ID {
	if id := c.Jobs[i].ID; !id.IsZero() {
		return id
	}
	var salt [4]byte
	binary.BigEndian.PutUint32(salt[:], uint32(i))
	id := c.ID.Derive(salt[:])
	copy(id[6:8], c.ID[6:8])
	id[8] = 0x80 | byte(i>>8)&0x3f
	id[9] = byte(i)
	return id
}

// RunID is the id of the run that a command makes for a job.
func RunID(command, job ID) ID { return command.Derive(job[:]) }

// RetryID is the id of the job that a command makes to retry another.
func RetryID(command, job ID) ID { return command.Derive(append([]byte("retry"), job[:]...)) }

// AuditID is the id of the audit entry that a command writes about a job.
func AuditID(command ID, verb Verb, job ID) ID {
	return command.Derive(append([]byte("audit "+string(verb)), job[:]...))
}

// TokenFor is the lease token that the claim gives a job. It cannot be
// computed from anything that is shown to others.
func (c *Claim) TokenFor(job ID) Token {
	var both [32]byte
	copy(both[:16], c.Seed[:])
	copy(both[16:], job[:])
	sum := sha256.Sum256(both[:])
	return Token(sum[:16])
}
