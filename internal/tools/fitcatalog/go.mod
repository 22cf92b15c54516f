module github.com/oxgang/oxgang/internal/tools/fitcatalog

go 1.26.0

require github.com/oxgang/oxgang v0.0.0

replace github.com/oxgang/oxgang => ../../..
