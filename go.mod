module github.com/rotajobs/rota

go 1.26
