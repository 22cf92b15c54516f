package agentapi

import (
	"reflect"
	"strings"
)

// A jsonType is what a JSON value is, in words for people.
type jsonType string

// The JSON types there are.
const (
	object jsonType = "an object"
	list   jsonType = "a list"
	text   jsonType = "a string"
	yesNo  jsonType = "true or false"
	whole  jsonType = "a whole number"
	float  jsonType = "a number"
)

// A shape is the JSON that a Go type is decoded from.
type shape struct {
	json     jsonType
	required bool // a key that must be there: its field is not omitempty
	nullable bool // may be null, which says the same as a key that is missing
	keys     []string
	fields   map[string]*shape // of an object, by key
	element  *shape            // of a list
}

// The shapes of the messages from outside.
var (
	helloShape      = shapeOf(reflect.TypeFor[Hello]())
	reportShape     = shapeOf(reflect.TypeFor[Report]())
	checkpointShape = shapeOf(reflect.TypeFor[Checkpoint]())
)

// shapeOf returns the shape of a type; it panics where that is not a message's.
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

// shapeOfStruct returns the shape of a struct whose fields all name their keys.
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
