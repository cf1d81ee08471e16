package sqlite

import (
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// A transaction of a caller must belong to the copy of the SQLite library that this store uses. The
// locks on a file belong to the process, not to the copy: a second copy that closes the file drops the
// locks of the first, and the file is corrupted. So this copy adds SQL functions to each of its
// connections, and a connection on which they are missing is not one of its connections. The version of
// SQLite or its options would not tell a fork from the original. To import the driver modernc.org/sqlite
// for this would break each program that also imports a fork of it, because both register the name
// "sqlite".
const (
	// sqlCallerFile returns the path of the file of a connection, NULL or '' if it is in memory, and a
	// second column. PostgreSQL would abort the transaction if it called a function that it does not have.
	// It nests comments, so it reads only SELECT ''.
	sqlCallerFile = `SELECT /* /* */ rota_connection_file(), -- */
''`
	// sqlCallerLock takes the write lock of a connection in a transaction, and waits for it at most the
	// milliseconds of its parameter.
	sqlCallerLock = `SELECT rota_connection_lock(?)`
	// sqlCallerOpen returns whether a connection is in a transaction.
	sqlCallerOpen = `SELECT rota_connection_in_transaction()`
)

type sqlFunction = func(tls *libc.TLS, context uintptr, count int32, args uintptr)

// SQLite keeps these texts and functions for as long as the process runs.
var (
	textNoUpdate    = cText("UPDATE rota_meta SET value = value WHERE 0") // takes the write lock and changes nothing
	textBusyTimeout = cText("PRAGMA busy_timeout")

	connectionFunctions = []struct {
		name     uintptr
		args     int32
		function uintptr
	}{
		{cText("rota_connection_file"), 0, cFunction[sqlFunction](connectionFile)},
		{cText("rota_connection_lock"), 1, cFunction[sqlFunction](connectionLock)},
		{cText("rota_connection_in_transaction"), 0, cFunction[sqlFunction](connectionInTransaction)},
	}
)

func init() {
	tls := libc.NewTLS()
	defer tls.Close()
	added := lib.Xsqlite3_auto_extension(tls, cFunction[func(*libc.TLS, uintptr, uintptr, uintptr) int32](addConnectionFunctions))
	if added != lib.SQLITE_OK {
		panic("sqlite: there is no memory for an SQL function")
	}
}

// addConnectionFunctions is called for each connection that is opened.
func addConnectionFunctions(tls *libc.TLS, db, _, _ uintptr) int32 {
	for _, f := range connectionFunctions {
		code := lib.Xsqlite3_create_function_v2(tls, db, f.name, f.args, lib.SQLITE_UTF8, 0, f.function, 0, 0, 0)
		if code != lib.SQLITE_OK {
			return code
		}
	}
	return lib.SQLITE_OK
}

func connectionFile(tls *libc.TLS, context uintptr, _ int32, _ uintptr) {
	const transient = ^uintptr(0) // SQLite copies the text
	path := lib.Xsqlite3_db_filename(tls, lib.Xsqlite3_context_db_handle(tls, context), 0)
	lib.Xsqlite3_result_text(tls, context, path, -1, transient)
}

// connectionLock lowers the busy timeout of the connection only for itself, in one call: the transaction
// may end at any time, and then nothing could restore the timeout of the connection.
func connectionLock(tls *libc.TLS, context uintptr, _ int32, args uintptr) {
	db := lib.Xsqlite3_context_db_handle(tls, context)
	wait := lib.Xsqlite3_value_int(tls, pointerAt(args))
	timeout, code := busyTimeoutOf(tls, db)
	if code == lib.SQLITE_OK {
		if timeout > wait {
			lib.Xsqlite3_busy_timeout(tls, db, wait)
		}
		code = lib.Xsqlite3_exec(tls, db, textNoUpdate, 0, 0, 0)
		if timeout > wait {
			lib.Xsqlite3_busy_timeout(tls, db, timeout)
		}
	}
	if code != lib.SQLITE_OK {
		lib.Xsqlite3_result_error_code(tls, context, code)
	}
}

func busyTimeoutOf(tls *libc.TLS, db uintptr) (ms, code int32) {
	const size = int(unsafe.Sizeof(uintptr(0)))
	at := tls.Alloc(size)
	defer tls.Free(size)
	if code = lib.Xsqlite3_prepare_v2(tls, db, textBusyTimeout, -1, at, 0); code != lib.SQLITE_OK {
		return 0, code
	}
	statement := pointerAt(at)
	if lib.Xsqlite3_step(tls, statement) == lib.SQLITE_ROW {
		ms = lib.Xsqlite3_column_int(tls, statement, 0)
	}
	return ms, lib.Xsqlite3_finalize(tls, statement)
}

func connectionInTransaction(tls *libc.TLS, context uintptr, _ int32, _ uintptr) {
	db := lib.Xsqlite3_context_db_handle(tls, context)
	lib.Xsqlite3_result_int(tls, context, 1-lib.Xsqlite3_get_autocommit(tls, db))
}

// pointerAt reads a pointer from the memory of SQLite.
func pointerAt(address uintptr) uintptr { return libc.AtomicLoadNUintptr(address, 0) }

// cText returns a text as SQLite expects it.
func cText(text string) uintptr {
	p, err := libc.CString(text)
	if err != nil {
		panic(err)
	}
	return p
}

// cFunction returns a declared function as SQLite calls it. modernc.org/sqlite/lib calls a pointer to a
// function as the Go function whose descriptor it points to.
func cFunction[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&struct{ f F }{f})) }
