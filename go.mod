module github.com/oxgang/oxgang

go 1.26
