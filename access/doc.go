// Package access decides who may log in, and what users may see and do.
//
// A Directory holds the users, roles and grants of a store in memory. Its Guard is a store in front of the store, bound
// to one identity: it checks every command and filters every read. The table in needs.go says what each of them needs.
// Everything that serves users works on a Guard; engines work on the store itself.
//
// Logins use verifiers of passwords, hashes of tokens and the names in client certificates. A throttle slows down failed
// ones, and a rate limiter bounds the requests of each user.
package access
