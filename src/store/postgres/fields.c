/* fields.c - see fields.h.  Answers are in binary form: integers big-endian in 2, 4 or 8 bytes, texts as they are. */
#include "store/postgres/fields.h"

void pw_fields_init(struct pw_fields *fields, const PGresult *result, struct pw_arena *arena)
{
    *fields = (struct pw_fields){ .result = result, .arena = arena, .row = -1, .status = PAWL_OK };
}

bool pw_fields_next(struct pw_fields *fields)
{
    fields->column = 0;
    return ++fields->row < PQntuples(fields->result);
}

static void note(struct pw_fields *fields, pawl_status status)
{
    if (fields->status == PAWL_OK)
        fields->status = status;
}

bool pw_field_is_null(const struct pw_fields *fields)
{
    return PQgetisnull(fields->result, fields->row, fields->column) != 0;
}

int64_t pw_field_integer(struct pw_fields *fields)
{
    int column = fields->column++;
    int size = PQgetlength(fields->result, fields->row, column);
    const unsigned char *bytes = (const unsigned char *)PQgetvalue(fields->result, fields->row, column);
    if (size == 0 || bytes == NULL)
        return 0;
    uint64_t number = (bytes[0] & 0x80) != 0 ? UINT64_MAX : 0;
    for (int i = 0; i < size; i++)
        number = number << 8 | bytes[i];
    return (int64_t)number;
}

int64_t pw_field_count(struct pw_fields *fields)
{
    return pw_count_of(pw_field_integer(fields));
}

int64_t pw_field_time(struct pw_fields *fields)
{
    return pw_time_of(pw_field_integer(fields));
}

int64_t pw_field_place(struct pw_fields *fields)
{
    int64_t place = pw_field_integer(fields);
    if (!pw_is_place(place))
        note(fields, PAWL_STORE_CORRUPT);
    return place;
}

int pw_field_choice(struct pw_fields *fields, int most)
{
    int64_t choice = pw_field_integer(fields);
    if (choice >= 0 && choice <= most)
        return (int)choice;
    note(fields, PAWL_STORE_CORRUPT);
    return 0;
}

struct pw_link pw_field_link(struct pw_fields *fields)
{
    struct pw_link link;
    link.parent = pw_field_count(fields);
    link.run = pw_field_count(fields);
    link.relation = (enum pw_relation)pw_field_choice(fields, PW_RELATION_JOB);
    return link;
}

struct pw_text pw_field_text(struct pw_fields *fields)
{
    struct pw_text copy = { NULL, 0 };
    bool is_null = pw_field_is_null(fields);
    int column = fields->column++;
    if (is_null)
        return copy;
    struct pw_text text = { PQgetvalue(fields->result, fields->row, column),
                            (size_t)PQgetlength(fields->result, fields->row, column) };
    if (!pw_arena_text(fields->arena, text, &copy))
        note(fields, PAWL_NOMEM);
    return copy;
}

void pw_field_row(struct pw_fields *fields, const struct pw_row_type *type, void *row)
{
    for (const struct pw_field *field = type->fields; field < type->fields + type->count; field++) {
        if (field->type == PW_FIELD_TEXT)
            *pw_member_text(field, row) = pw_field_text(fields);
        else if (!pw_member_set(field, row, pw_field_integer(fields)))
            note(fields, PAWL_STORE_CORRUPT);
    }
}

pawl_status pw_fields_end(const struct pw_fields *fields)
{
    return fields->status;
}

pawl_status pw_numbers_take(void *user, const PGresult *result)
{
    struct pw_numbers *numbers = user;
    struct pw_fields fields;
    int count = PQnfields(result);
    pw_fields_init(&fields, result, NULL);
    *numbers = (struct pw_numbers){ .is_found = pw_fields_next(&fields) };
    for (int i = 0; i < count && i < PW_NUMBERS_MAX && numbers->is_found; i++)
        numbers->of[i] = pw_field_integer(&fields);
    return pw_fields_end(&fields);
}
