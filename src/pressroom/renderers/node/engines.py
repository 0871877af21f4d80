"""The languages that are drawn in Node. What each needs on the other side is in node/languages."""

from pressroom.renderers.node.engine import NodeEngine
from pressroom.renderers.svg.finish import ThemedOptions


class Nomnoml(NodeEngine):
    name = "nomnoml"
    title = "Nomnoml"
    takes = "nomnoml"
    sample = "[Author] writes -> [Source]"
    language = "nomnoml"
    package = "nomnoml"
    Options = ThemedOptions


class WaveDrom(NodeEngine):
    name = "wavedrom"
    title = "WaveDrom"
    takes = "wavedrom"
    sample = '{ signal: [{ name: "clk", wave: "p..." }, { name: "data", wave: "x=.x", data: ["a"] }] }'
    language = "wavedrom"
    package = "wavedrom"
    Options = ThemedOptions


class Bytefield(NodeEngine):
    name = "bytefield"
    title = "Bytefield"
    takes = "bytefield"
    sample = '(draw-column-headers)\n(draw-box "length" {:span 4})\n(draw-box "body" {:span 12})'
    language = "bytefield"
    package = "bytefield-svg"


class Dbml(NodeEngine):
    name = "dbml"
    title = "DBML"
    takes = "dbml"
    sample = "Table jobs {\n  id int [pk]\n}\nTable attempts {\n  job int [ref: > jobs.id]\n}"
    language = "dbml"
    package = "@softwaretechnik/dbml-renderer"


class Pikchr(NodeEngine):
    name = "pikchr"
    title = "Pikchr"
    takes = "pikchr"
    sample = 'box "source" fit; arrow; box "picture" fit'
    language = "pikchr"
    package = "pikchr-js"
    Options = ThemedOptions


class Svgbob(NodeEngine):
    name = "svgbob"
    title = "Svgbob"
    takes = "svgbob"
    sample = "+--------+     +---------+\n| source |---->| picture |\n+--------+     +---------+"
    language = "svgbob"
    package = "bob-wasm"
    Options = ThemedOptions


class PlantUml(NodeEngine):
    """Without the standard library (`!include <...>`), and with a clock that stands still: %date() is the first of 2000."""

    name = "plantuml"
    title = "PlantUML"
    takes = "plantuml"
    sample = "@startuml\nAuthor -> Press : source\nPress --> Author : picture\n@enduml"
    language = "plantuml"
    package = "@plantuml/core"
    Options = ThemedOptions
