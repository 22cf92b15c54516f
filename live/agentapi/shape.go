package agentapi

import (
	"reflect"
	"strings"
)

type jsonType string

const (
	object jsonType = "an object"
	list   jsonType = "a list"
	text   jsonType = "a string"
	yesNo  jsonType = "true or false"
	whole  jsonType = "a whole number"
	float  jsonType = "a number"
)

type shape struct {
	json     jsonType
	required bool // a key without omitempty
	nullable bool // null is accepted and equals a missing key
	keys     []string
	fields   map[string]*shape
	element  *shape // of a list
}

var (
	helloShape      = shapeOf(reflect.TypeFor[Hello]())
	reportShape     = shapeOf(reflect.TypeFor[Report]())
	checkpointShape = shapeOf(reflect.TypeFor[Checkpoint]())
)

func shapeOf(t reflect.Type) *shape {
	switch t.Kind() {
	case reflect.Pointer:
		s := shapeOf(t.Elem())
		s.nullable = true
		return s
	case reflect.Struct:
		return shapeOfStruct(t)
	case reflect.Slice:
		return &shape{json: list, element: shapeOf(t.Elem())}
	case reflect.String:
		return &shape{json: text}
	case reflect.Bool:
		return &shape{json: yesNo}
	case reflect.Int, reflect.Int64:
		return &shape{json: whole}
	case reflect.Float64:
		return &shape{json: float}
	default:
		panic("agentapi: no JSON for " + t.String())
	}
}

func shapeOfStruct(t reflect.Type) *shape {
	s := &shape{json: object, fields: make(map[string]*shape)}
	for f := range t.Fields() {
		key, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		child := shapeOf(f.Type)
		child.required = rest != "omitempty"
		child.nullable = child.nullable || !child.required
		s.keys = append(s.keys, key)
		s.fields[key] = child
	}
	return s
}
